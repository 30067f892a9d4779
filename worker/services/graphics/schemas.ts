import { z } from "@hono/zod-openapi";
import type { GraphicRow } from "#db/schema/graphics.ts";
import { Id, Tracked } from "#worker/lib/schemas/common.ts";
import { defaultsOf } from "./data-schema.ts";
import { Manifest, widthOf } from "./manifest.ts";

export const GraphicUpload = z
  .strictObject({
    file: z.instanceof(File, { error: "One zip archive is required" }).openapi({ type: "string", format: "binary" }),
  })
  .openapi("GraphicUpload");

const JsonObject = z.record(z.string(), z.unknown());

const GraphicAction = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    schema: JsonObject.nullable().describe("JSON Schema of the action's payload; null if it takes none"),
  })
  .openapi("GraphicAction");

const GraphicFile = z
  .object({ path: z.string(), contentType: z.string(), size: z.number().int().describe("Bytes") })
  .openapi("GraphicFile");

export const Graphic = z
  .object({
    _id: Id,
    siteId: Id,
    name: z.string().openapi({ example: "Weather ticker" }),
    description: z.string(),
    graphicId: z.string().describe("The `id` of the manifest").openapi({ example: "example.weather-ticker" }),
    graphicVersion: z.string().nullable().describe("The `version` of the manifest"),
    author: z.string().nullable(),
    schema: JsonObject.describe("JSON Schema of the graphic's data, which an overlay's `variables` must match"),
    defaults: JsonObject.describe("The data that the graphic starts with where the overlay has none"),
    actions: z.array(GraphicAction).describe("Custom actions, which a broadcast can perform"),
    stepCount: z.number().describe("How many steps it has; -1 if that isn't known"),
    width: z.number().int().describe("The width in pixels that it is laid out for; it is scaled to the player's"),
    size: z.number().int().describe("Bytes of all files"),
    files: z.array(GraphicFile),
    ...Tracked,
  })
  .openapi("Graphic");

export const GRAPHIC_SCHEMA = { type: "object", properties: {} };

export function toGraphic(row: GraphicRow) {
  const manifest = Manifest.parse(row.manifest);
  const { schema = GRAPHIC_SCHEMA } = manifest;
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    description: row.description,
    graphicId: manifest.id,
    graphicVersion: manifest.version ?? null,
    author: manifest.author?.name ?? null,
    schema,
    defaults: defaultsOf(schema),
    actions: (manifest.customActions ?? []).map((action) => ({
      id: action.id,
      name: action.name,
      description: action.description ?? null,
      schema: action.schema ?? null,
    })),
    stepCount: manifest.stepCount ?? 1,
    width: widthOf(manifest),
    size: row.size,
    files: row.files,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Graphic>;
}
