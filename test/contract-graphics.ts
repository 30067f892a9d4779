import { z } from "@hono/zod-openapi";
import { graphicForm } from "./graphics.ts";
import type { CallOptions, TestSite } from "./harness.ts";

const Created = z.looseObject({ _id: z.string() });

async function newGraphic(site: TestSite): Promise<string> {
  return Created.parse((await site.call("uploadGraphic", { body: await graphicForm() })).body)._id;
}

export const GRAPHIC_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  listGraphics: async (site) => {
    await newGraphic(site);
    return {};
  },
  uploadGraphic: async () => ({ body: await graphicForm() }),
};

export const GRAPHIC_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/overlay/v1/graphics/{id}": newGraphic,
  "/overlay/v1/graphics/{id}/frame": newGraphic,
  "/overlay/v1/graphics/{id}/files/{path}": newGraphic,
};
