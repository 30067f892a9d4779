import { createArea } from "#worker/http/area.ts";
import {
  ACCOUNT,
  CLIENT,
  CLIENT_HEADER_OR_QUERY,
  DEVELOPER,
  DEVELOPER_OR_ACCOUNT,
  DEVELOPER_OR_ACCOUNT_OR_SUPER,
  SUPER,
} from "#worker/http/credentials.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { exportEngagement, readEngagement } from "#worker/services/insights/engagement.ts";
import {
  Engagement,
  EngagementQuery,
  HistoryQuery,
  Reach,
  ReachQuery,
  Revenue,
  RevenueQuery,
  SegmentFigures,
  SegmentFiguresQuery,
  ViewerHistory,
} from "#worker/services/insights/engagement-schemas.ts";
import { historyCsv, readHistory } from "#worker/services/insights/history.ts";
import { ClientIdQuery, ImpressionBatch } from "#worker/services/insights/impression-schemas.ts";
import { reportImpressions } from "#worker/services/insights/impressions.ts";
import { readConcurrents, readLimits } from "#worker/services/insights/insights.ts";
import { reachCsv, readReach } from "#worker/services/insights/reach.ts";
import { RequestList, RequestListQuery } from "#worker/services/insights/request-schemas.ts";
import { listRequests } from "#worker/services/insights/requests.ts";
import { readRevenue, revenueCsv } from "#worker/services/insights/revenue.ts";
import { readSegmentFigures, segmentFiguresCsv } from "#worker/services/insights/segment-figures.ts";
import { SegmentParam } from "#worker/services/segments/schemas.ts";
import { ConcurrentsList, ConcurrentsQuery, LimitList } from "#worker/services/insights/schemas.ts";

export const insights = createArea();
const tag = "Insights";
const CSV = { "text/csv": { schema: { type: "string" as const } } };
const CSV_HEADERS = { "Content-Type": "text/csv; charset=utf-8" };

insights.openapi(
  operation({
    operationId: "reportImpressions",
    tag,
    method: "post",
    path: "/insights/v1/impressions",
    summary: "Report impressions and actions",
    description:
      "Counts what a viewer was shown and did, in batches of at most 100. The Web SDK calls it; other clients can. A body sent as text/plain is read as JSON and the client id can be a query parameter, so that `navigator.sendBeacon` works. The response is the same if the site collects nothing, if the request has `Sec-GPC: 1` or `DNT: 1`, or if the site doesn't have what an entry names: such entries aren't counted. Beyond 120 entries a minute per device, and 20,000 viewers' entries per address, nothing is counted.",
    access: { credentials: CLIENT_HEADER_OR_QUERY },
    input: { maxBytes: 32 * 1024, readsText: true },
    request: { query: ClientIdQuery, body: jsonBody(ImpressionBatch) },
    responses: { 204: { description: "Received" } },
  }),
  async (c) => {
    const refusesTracking = c.req.header("Sec-GPC") === "1" || c.req.header("DNT") === "1";
    await reportImpressions(c.get("ctx"), { network: callerAddress(c), refusesTracking }, c.req.valid("json"));
    return c.body(null, 204);
  },
);

insights.openapi(
  operation({
    operationId: "getEngagement",
    tag,
    method: "get",
    path: "/insights/v1/engagement",
    summary: "Get engagement per hour",
    description:
      "Viewers, watch time, impressions, actions, votes, claims, messages and payments, per channel and hour or per hour of the whole site. Every hour of the range is listed, so that a chart needs no gaps filled. Figures of the current hour are up to a minute old. Kept for 400 days. Channel admins name a channel of theirs.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { query: EngagementQuery },
    responses: { 200: { description: "The figures", content: { "application/json": { schema: Engagement }, ...CSV } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    if (query.format === "csv") return c.body(streamText(await exportEngagement(c.get("ctx"), query)), 200, CSV_HEADERS);
    const { results, cursor } = await readEngagement(c.get("ctx"), query);
    return c.json({ results, pagination: paginate(c.req.url, query.limit, results.length, cursor) }, 200);
  },
);

insights.openapi(
  operation({
    operationId: "getReach",
    tag,
    method: "get",
    path: "/insights/v1/reach",
    summary: "Get what viewers saw most",
    description:
      "How often each overlay, broadcast, panel, poll, quest and video was shown and used, over a range of days (UTC). Two days after its end, a channel's day keeps the 50 largest of each kind, and the sum of the others. Kept for 400 days. Channel admins name a channel of theirs.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { query: ReachQuery },
    responses: { 200: { description: "The highest numbers", content: { "application/json": { schema: Reach }, ...CSV } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const reach = await readReach(c.get("ctx"), query);
    return query.format === "csv" ? c.body(reachCsv(reach), 200, CSV_HEADERS) : c.json(reach, 200);
  },
);

insights.openapi(
  operation({
    operationId: "getRevenue",
    tag,
    method: "get",
    path: "/insights/v1/revenue",
    summary: "Get revenue per day",
    description:
      "What was paid per day (UTC) and currency, and how much of it has been refunded since. A payment counts on the day of its checkout, a renewal on its own. Amounts are in minor units, and are never converted from one currency to another.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RevenueQuery },
    responses: { 200: { description: "The revenue", content: { "application/json": { schema: Revenue }, ...CSV } } },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const revenue = await readRevenue(c.get("ctx"), query);
    return query.format === "csv" ? c.body(revenueCsv(revenue), 200, CSV_HEADERS) : c.json(revenue, 200);
  },
);

insights.openapi(
  operation({
    operationId: "getSegmentFigures",
    tag,
    method: "get",
    path: "/insights/v1/segments/{slug}",
    summary: "Get a segment's figures per hour",
    description:
      "What the accounts that are in a segment of `settings.userSegments` now did in each hour: video watched while signed in, votes, claims and payments, on the whole site. Computed when you ask, which reads all accounts; at most 31 days. Impressions and messages aren't counted by account, so a segment has none. A segment may have a single account, so the key also needs `account:read`.",
    access: { credentials: DEVELOPER },
    limit: { name: "segmentFigures" },
    request: { params: SegmentParam, query: SegmentFiguresQuery },
    responses: { 200: { description: "The figures", content: { "application/json": { schema: SegmentFigures }, ...CSV } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const figures = await readSegmentFigures(c.get("ctx"), c.req.valid("param").slug, query);
    return query.format === "csv" ? c.body(segmentFiguresCsv(figures), 200, CSV_HEADERS) : c.json(figures, 200);
  },
);

insights.openapi(
  operation({
    operationId: "getConcurrentsHistory",
    tag,
    method: "get",
    path: "/insights/v1/concurrents/history",
    summary: "Get viewer counts over time",
    description:
      "The viewers of a channel, or of the site, per minute, five minutes or hour: the most at one moment, and the average. Every step of the range is listed. Channel admins name a channel of theirs.",
    access: { credentials: DEVELOPER_OR_ACCOUNT_OR_SUPER, accounts: "creator" },
    request: { query: HistoryQuery },
    responses: { 200: { description: "The history", content: { "application/json": { schema: ViewerHistory }, ...CSV } } },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const history = await readHistory(c.get("ctx"), query);
    return query.format === "csv" ? c.body(historyCsv(history), 200, CSV_HEADERS) : c.json(history, 200);
  },
);

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
  async (c) => c.json(await readConcurrents(c.get("ctx"), c.req.valid("query").siteIds), 200),
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
  async (c) => c.json({ limits: await readLimits(c.get("ctx"), callerAddress(c)) }, 200),
);

insights.openapi(
  operation({
    operationId: "listRequests",
    tag,
    method: "get",
    path: "/insights/v1/requests",
    summary: "List the requests of the last hour",
    description:
      "The site's latest requests to this API, at most 1,000, a few seconds after their response. If there are many, a part of them is recorded, and `share` says how many. An entry has no address, header, query or body. Requests of this operation aren't listed.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RequestListQuery },
    responses: { 200: json("The requests", RequestList) },
    errors: ["unavailable"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { cursor, ...page } = await listRequests(c.get("ctx"), query);
    return c.json({ ...page, pagination: paginate(c.req.url, query.limit, page.results.length, cursor) }, 200);
  },
);

function paginate(url: string, limit: number, pageResults: number, cursor: string | null) {
  const { pathname, search, searchParams } = new URL(url);
  if (cursor !== null) searchParams.set("cursor", cursor);
  return { limit, pageResults, next: cursor === null ? null : `${pathname}?${searchParams.toString()}`, self: pathname + search };
}
