import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { asIs, listResponse } from "#worker/services/core/list-schemas.ts";
import { awardPoints } from "#worker/services/leaderboards/awards.ts";
import { exportLedger } from "#worker/services/leaderboards/export.ts";
import {
  createLeaderboard,
  deleteLeaderboard,
  getLeaderboard,
  listLeaderboards,
  replaceLeaderboard,
} from "#worker/services/leaderboards/leaderboards.ts";
import { listRanks, ownRank } from "#worker/services/leaderboards/ranks.ts";
import {
  AwardInput,
  AwardResults,
  Leaderboard,
  LeaderboardInput,
  LeaderboardList,
  LeaderboardQuery,
  OwnRank,
  OwnRankQuery,
  RankList,
  RankQuery,
  toLeaderboard,
} from "#worker/services/leaderboards/schemas.ts";

export const leaderboards = createArea();

const read = { tag: "Leaderboards", access: { credentials: CLIENT } } as const;
const manage = { tag: "Leaderboards", access: { credentials: DEVELOPER_OR_ACCOUNT } } as const;

const EXPORT_SAMPLE =
  "sequence,earned_at,member,account_id,points,rule,cause,reason\r\n1,2026-11-20T19:02:11.000Z,1,5eed0000000000000000a003,10,poll.answered,poll.answered/5eed00000000000000006001/1,Answered a poll\r\n";

leaderboards.openapi(
  operation({
    ...read,
    operationId: "listLeaderboards",
    method: "get",
    path: "/leaderboard/v1",
    summary: "List leaderboards",
    description: "The site's leaderboards, newest first. `search` matches the name.",
    request: { query: LeaderboardQuery },
    responses: { 200: json("A page of leaderboards", LeaderboardList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listLeaderboards(c.get("ctx"), query), toLeaderboard), 200);
  },
);

leaderboards.openapi(
  operation({
    ...manage,
    operationId: "createLeaderboard",
    method: "post",
    path: "/leaderboard/v1",
    summary: "Create a leaderboard",
    description:
      "Creates a leaderboard for an event, a season or all time. Its rules award points for what viewers do from now on; nothing is awarded for the past. A site has at most 100 leaderboards.",
    request: { body: jsonBody(LeaderboardInput) },
    responses: { 201: json("The leaderboard", Leaderboard) },
    errors: ["conflict"],
  }),
  async (c) => {
    const leaderboard = await createLeaderboard(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, leaderboard);
    return c.json(toLeaderboard(leaderboard), 201);
  },
);

leaderboards.openapi(
  operation({
    ...read,
    operationId: "getLeaderboard",
    method: "get",
    path: "/leaderboard/v1/{id}",
    summary: "Get a leaderboard",
    description: "Returns one leaderboard with its rules, without its ranks.",
    request: { params: IdParam },
    responses: { 200: json("The leaderboard", Leaderboard) },
    errors: ["not_found"],
  }),
  async (c) => {
    const leaderboard = await getLeaderboard(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, leaderboard);
    return c.json(toLeaderboard(leaderboard), 200);
  },
);

leaderboards.openapi(
  operation({
    ...manage,
    operationId: "replaceLeaderboard",
    method: "put",
    path: "/leaderboard/v1/{id}",
    summary: "Replace a leaderboard",
    description: "Replaces name, period, channels and rules. Points that were already awarded stay; changed rules apply from now on.",
    request: { params: IdParam, body: jsonBody(LeaderboardInput) },
    responses: { 200: json("The updated leaderboard", Leaderboard) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const leaderboard = await replaceLeaderboard(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, leaderboard);
    return c.json(toLeaderboard(leaderboard), 200);
  },
);

leaderboards.openapi(
  operation({
    ...manage,
    operationId: "deleteLeaderboard",
    method: "delete",
    path: "/leaderboard/v1/{id}",
    summary: "Delete a leaderboard",
    description: "Deletes a leaderboard with all its points; export them first. 409 while a panel shows it.",
    request: { params: IdParam },
    responses: { 204: { description: "Deleted" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deleteLeaderboard(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);

leaderboards.openapi(
  operation({
    ...read,
    operationId: "listRanks",
    method: "get",
    path: "/leaderboard/v1/{id}/ranks",
    summary: "List the ranks",
    description:
      "The members of a leaderboard, most points first. Members with equal points share a rank, in the order in which they reached their points. Hidden and deleted accounts keep their rank without name and id. Channels receive the first ten as `leaderboard.updated`, at most twice a second.",
    request: { params: IdParam, query: RankQuery },
    responses: { 200: json("A page of the ranks", RankList) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listRanks(c.get("ctx"), c.req.valid("param").id, query);
    return c.json(listResponse(c.req.url, query, page, asIs), 200);
  },
);

leaderboards.openapi(
  operation({
    tag: "Leaderboards",
    access: { credentials: ACCOUNT, accounts: "any" },
    operationId: "getOwnRank",
    method: "get",
    path: "/leaderboard/v1/{id}/ranks/me",
    summary: "Get the caller's own rank",
    description: "The caller's exact rank and points, however many members there are, with its neighbours in the ranks.",
    request: { params: IdParam, query: OwnRankQuery },
    responses: { 200: json("The caller's rank", OwnRank) },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => c.json(await ownRank(c.get("ctx"), c.req.valid("param").id, c.req.valid("query").neighbours), 200),
);

leaderboards.openapi(
  operation({
    ...manage,
    operationId: "awardPoints",
    method: "post",
    path: "/leaderboard/v1/{id}/awards",
    summary: "Award points",
    description:
      "Awards points to one account, or to up to 500 with `awards`. Every award is recorded once by its `awardId`, so a request can be repeated. Of a list, each award has its own outcome; a single award that can't be recorded is an error. Also accepted before and after the leaderboard's period.",
    limit: { name: "award", withFirstRead: true },
    request: { params: IdParam, body: jsonBody(AwardInput) },
    responses: { 201: json("The outcome of each award", AwardResults) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json({ awards: await awardPoints(c.get("ctx"), c.req.valid("param").id, c.req.valid("json")) }, 201),
);

leaderboards.openapi(
  operation({
    ...manage,
    operationId: "exportLeaderboard",
    method: "get",
    path: "/leaderboard/v1/{id}/export",
    summary: "Export the awards",
    description:
      "All awards as CSV in the order in which they were recorded, corrections included: the ranks follow from them alone. `member` identifies a member also after its account is deleted.",
    request: { params: IdParam },
    responses: { 200: { description: "The file", content: { "text/csv": { schema: { type: "string", example: EXPORT_SAMPLE } } } } },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    return c.body(streamText(await exportLedger(c.get("ctx"), id)), 200, {
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="leaderboard-${id}.csv"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);
