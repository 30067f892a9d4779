import { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-env.ts";
import { rerunLostRaces } from "./lost-races.ts";
import { admitFirst } from "./middleware/rate-limit.ts";

/** The routes of one area: `area.openapi(operation({ … }), async (c) => …)`, in path order, fixed paths before `{id}`. */
export function createArea(): OpenAPIHono<AppEnv> {
  const area = new OpenAPIHono<AppEnv>();
  const register = area.openapi;
  area.openapi = (route, handler, hook) => register(route, admitFirst(rerunLostRaces(route, handler)), hook);
  return area;
}
