import { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-env.ts";

/** The routes of one area: `area.openapi(operation({ … }), async (c) => …)`, in path order, fixed paths before `{id}`. */
export function createArea(): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>();
}
