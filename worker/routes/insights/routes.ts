import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, SUPER } from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { readConcurrents, readLimits } from "#worker/services/insights/insights.ts";
import { ConcurrentsList, ConcurrentsQuery, LimitList } from "#worker/services/insights/schemas.ts";

export const insights = createArea();
const tag = "Insights";

insights.openapi(
  operation({
    operationId: "getConcurrents",
    tag,
    method: "get",
    path: "/insights/v1/concurrents",
    summary: "Get viewer counts",
    description: "Connected viewers per site and channel, accurate to within 2 seconds, and today's distinct devices.",
    access: { credentials: SUPER },
    request: { query: ConcurrentsQuery },
    responses: { 200: json("One entry per site", ConcurrentsList) },
  }),
  async (c) => c.json(await readConcurrents(c.var.ctx, c.req.valid("query").siteIds), 200),
);

insights.openapi(
  operation({
    operationId: "getLimits",
    tag,
    method: "get",
    path: "/insights/v1/limits",
    summary: "Get rate limits",
    description:
      "The rate limits and what remains of each for this caller. With a bearer token, this includes limits that are counted per account.",
    access: { credentials: CLIENT, optional: ACCOUNT, accounts: "any" },
    request: {},
    responses: { 200: json("The rate limits", LimitList) },
  }),
  async (c) => c.json({ limits: await readLimits(c.var.ctx, callerAddress(c)) }, 200),
);
