import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { ANYONE } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { checkHealth } from "#worker/services/health/health.ts";

export const health = createArea();

const Health = z.object({ status: z.literal("ok"), database: z.literal("ok"), objects: z.literal("ok") }).openapi("Health");

health.openapi(
  operation({
    operationId: "getHealth",
    tag: "Health",
    method: "get",
    path: "/health",
    summary: "Check the deployment",
    description: "Returns 200 if D1 and Durable Objects respond, otherwise 503.",
    access: { credentials: ANYONE },
    request: {},
    responses: { 200: json("The deployment is healthy", Health) },
    errors: ["unavailable"],
  }),
  async (c) => {
    await checkHealth(c.env);
    return c.json({ status: "ok" as const, database: "ok" as const, objects: "ok" as const }, 200);
  },
);
