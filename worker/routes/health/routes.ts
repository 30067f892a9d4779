import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { ANYONE, SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { checkHealth } from "#worker/services/health/health.ts";
import { listFailedEffects, retryFailedEffects } from "#worker/services/operations/failed-effects.ts";
import { PROMETHEUS_TYPE, toPrometheus } from "#worker/services/operations/prometheus.ts";
import { listObjectSizes } from "#worker/services/operations/object-sizes.ts";
import { operatorReport } from "#worker/services/operations/report.ts";
import { FailedEffects, MetricsText, ObjectSizes, OperatorReport, RetriedEffects, SiteParam } from "#worker/services/operations/schemas.ts";

export const health = createArea();

const tag = "Health";

const Health = z.object({ status: z.literal("ok"), database: z.literal("ok"), objects: z.literal("ok") }).openapi("Health");

health.openapi(
  operation({
    operationId: "getHealth",
    tag,
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

health.openapi(
  operation({
    operationId: "getMetrics",
    tag,
    method: "get",
    path: "/health/metrics",
    summary: "Get the deployment's metrics",
    description: "Returns the figures of `getOperatorReport` in Prometheus' text format.",
    access: { credentials: SUPER },
    request: {},
    responses: { 200: { description: "The metrics", content: { "text/plain": { schema: MetricsText } } } },
  }),
  async (c) => {
    const report = await operatorReport(c.get("ctx"), c.get("metrics").figures(Date.now()));
    return c.text(toPrometheus(report), 200, { "Content-Type": PROMETHEUS_TYPE });
  },
);

health.openapi(
  operation({
    operationId: "getOperatorReport",
    tag,
    method: "get",
    path: "/ops",
    summary: "Get the deployment's state",
    description:
      "Returns what needs the operator's attention: events that wait, effects that fail, jobs, late actions, the cron's last run, the size of the database, viewers, and response times of the isolate that responds.",
    access: { credentials: SUPER },
    request: {},
    responses: { 200: json("The state", OperatorReport) },
  }),
  async (c) => c.json(await operatorReport(c.get("ctx"), c.get("metrics").figures(Date.now())), 200),
);

health.openapi(
  operation({
    operationId: "listFailedEffects",
    tag,
    method: "get",
    path: "/ops/sites/{siteId}/effects",
    summary: "List a site's failed effects",
    description: "Returns the oldest 100 events whose effects failed, with the cause of the last attempt and the time of the next.",
    access: { credentials: SUPER },
    request: { params: SiteParam },
    responses: { 200: json("The failed effects", FailedEffects) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json(await listFailedEffects(c.get("ctx"), c.req.valid("param").siteId), 200),
);

health.openapi(
  operation({
    operationId: "listObjectSizes",
    tag,
    method: "get",
    path: "/ops/sites/{siteId}/objects",
    summary: "List the sizes of a site's objects",
    description:
      "Returns what a site's Durable Objects store, largest first: its event log, channels, chats, polls, leaderboards, webhook endpoints and others. An object holds at most 10 GB.",
    access: { credentials: SUPER },
    request: { params: SiteParam },
    responses: { 200: json("The sizes", ObjectSizes) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json(await listObjectSizes(c.get("ctx"), c.req.valid("param").siteId), 200),
);

health.openapi(
  operation({
    operationId: "retryFailedEffects",
    tag,
    method: "post",
    path: "/ops/sites/{siteId}/effects/retry",
    summary: "Retry a site's failed effects",
    description: "Retries all failed effects of a site at once, including those that were given up. Each still has its effect once.",
    access: { credentials: SUPER },
    request: { params: SiteParam },
    responses: { 202: json("The number of effects that are retried", RetriedEffects) },
    errors: ["not_found"],
  }),
  async (c) => c.json({ retried: await retryFailedEffects(c.get("ctx"), c.req.valid("param").siteId) }, 202),
);
