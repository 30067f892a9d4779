import { beforeAll, describe, expect, test } from "vitest";
import { committedEvents } from "#test/committed-events.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { leaderboardsOf } from "#test/leaderboards.ts";
import { newId } from "#worker/lib/ids.ts";
import { Leaderboard, LeaderboardList } from "#worker/services/leaderboards/schemas.ts";
import { MAX_LEADERBOARDS } from "#worker/services/leaderboards/leaderboards.ts";

const DAY = 86_400_000;
const derby = { name: "Derby day", period: "event", startsAt: 1_795_166_400_000, endsAt: 1_795_166_400_000 + DAY };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newBoard } = leaderboardsOf(() => site);
const create = (body: Record<string, unknown>, as: "developer" | "admin" = "developer") => site.call("createLeaderboard", { body, as });
const panel = (leaderboardId: string) => ({
  siteId: site.id,
  renderer: { panel_type: "leaderboard_achievement", panel_name: "Ranks", leaderboard_id: leaderboardId },
});

describe("a leaderboard", () => {
  test("is created, replaced and deleted, each with its event", async () => {
    const rules = [{ on: "poll.answered", points: 10, perDay: 20 }];
    const created = (await create({ ...derby, channelIds: [site.channels[0]], rules })).as(Leaderboard);
    expect(created).toMatchObject({ ...derby, siteId: site.id, channelIds: [site.channels[0]], rules });
    const params = { id: created._id };
    expect((await site.call("getLeaderboard", { as: "client", params })).body).toEqual(created);
    const replaced = (await site.call("replaceLeaderboard", { params, body: { name: "All time", period: "all" } })).as(Leaderboard);
    expect(replaced).toMatchObject({ name: "All time", startsAt: null, endsAt: null, channelIds: [], rules: [] });
    expect((await site.call("deleteLeaderboard", { params })).status).toBe(204);
    expect((await site.call("getLeaderboard", { as: "client", params })).status).toBe(404);
    const events = (await committedEvents([site.id])).filter(({ resource }) => resource === `leaderboard/${created._id}`);
    expect(events.map(({ type }) => type)).toEqual(["leaderboard.created", "leaderboard.updated", "leaderboard.deleted"]);
  });

  test("of a channel is listed for the channel together with those of the whole site", async () => {
    const own = await newSite();
    const boards = leaderboardsOf(() => own);
    const [everywhere, first] = [await boards.newBoard(), await boards.newBoard({ channelIds: [own.channels[0]] })];
    await boards.newBoard({ channelIds: [own.channels[1]] });
    const query = { channelId: own.channels[0] };
    const { results } = (await own.call("listLeaderboards", { as: "client", query })).as(LeaderboardList);
    expect(results.map(({ _id }) => _id)).toEqual([first._id, everywhere._id]);
  });

  test.each([
    ["an event without dates", { ...derby, startsAt: undefined, endsAt: null }, ["startsAt", "endsAt"]],
    ["a board of all time with a date", { ...derby, period: "all", startsAt: undefined }, ["endsAt"]],
    ["an end before the start", { ...derby, endsAt: derby.startsAt }, ["endsAt"]],
    [
      "two rules for the same thing",
      {
        ...derby,
        rules: [
          { on: "poll.answered", points: 1 },
          { on: "poll.answered", points: 2 },
        ],
      },
      ["rules"],
    ],
    ["a rule that takes points", { ...derby, rules: [{ on: "poll.answered", points: -1 }] }, ["rules.0.points"]],
    ["a channel of nobody", { ...derby, channelIds: [newId(1)] }, ["channelIds.0"]],
  ])("is rejected with %s", async (_, body, fields) => {
    const response = await create(body);
    expect(response.status).toBe(400);
    expect(response.fields).toEqual(fields);
  });

  test("can't be deleted while a panel shows it, and a panel can't show one of another site", async () => {
    const { _id } = await newBoard();
    const shown = await site.call("createPanel", { body: panel(_id), as: "admin" });
    expect(shown.status, shown.text).toBe(201);
    const rejected = await site.call("deleteLeaderboard", { params: { id: _id } });
    expect(rejected.problem).toMatchObject({ status: 409, code: "conflict" });
    expect(rejected.problem?.message).toContain("Ranks");
    const other = await newSite();
    const foreign = await leaderboardsOf(() => other).newBoard();
    expect((await site.call("createPanel", { body: panel(foreign._id), as: "admin" })).fields).toEqual(["renderer.leaderboard_id"]);
  });

  test("changes only in the version that the caller has read", async () => {
    const { _id } = await newBoard();
    const etag = (await site.call("getLeaderboard", { as: "client", params: { id: _id } })).headers.get("ETag") ?? "";
    const call = { params: { id: _id }, body: { name: "New", period: "all" } };
    expect((await site.call("replaceLeaderboard", { ...call, headers: { "If-Match": etag } })).status).toBe(200);
    expect((await site.call("replaceLeaderboard", { ...call, headers: { "If-Match": etag } })).status).toBe(412);
  });

  test("is one of at most a hundred of a site", async () => {
    const own = await newSite();
    for (let n = 0; n < MAX_LEADERBOARDS; n++) await leaderboardsOf(() => own).newBoard();
    const body = { name: "One more", period: "all" };
    expect((await own.call("createLeaderboard", { body })).problem).toMatchObject({ status: 409, code: "conflict" });
  });
});

describe("callers", () => {
  test("with a key need the role leaderboard", async () => {
    const { _id } = await newBoard();
    const calls = { write: ["awardPoints", { accountId: site.accounts.viewer.id, points: 1 }], read: ["exportLeaderboard"] } as const;
    const attempt = async (operationId: string, roles: string[], body?: Record<string, unknown>) => {
      const headers = { "Tifo-Developer-Key": await site.addKey(roles) };
      return (await site.call(operationId, { params: { id: _id }, headers, ...(body && { body }) })).status;
    };
    expect(await attempt(calls.write[0], ["leaderboard:write"], calls.write[1])).toBe(201);
    expect(await attempt(calls.write[0], ["leaderboard:read", "poll:write"], calls.write[1])).toBe(403);
    expect(await attempt(calls.read[0], ["leaderboard:read"])).toBe(200);
    expect(await attempt(calls.read[0], ["poll:write"])).toBe(403);
  });

  test.each(["listRanks", "getOwnRank", "awardPoints", "exportLeaderboard", "getLeaderboard", "deleteLeaderboard"])(
    "get a 404 from %s for a leaderboard of another site",
    async (operationId) => {
      const other = await newSite();
      const { _id } = await newBoard();
      const body = operationId === "awardPoints" ? { accountId: other.accounts.viewer.id, points: 1 } : undefined;
      expect((await other.call(operationId, { params: { id: _id }, ...(body && { body }) })).status).toBe(404);
    },
  );

  test.each(["viewer", "creator", "reader"] as const)("who are a %s can't award points or change a leaderboard", async (as) => {
    const { _id: id } = await newBoard();
    const body = { accountId: site.accounts.viewer.id, points: 1 };
    expect((await site.call("awardPoints", { params: { id }, body, as })).status).toBe(403);
    expect((await site.call("replaceLeaderboard", { params: { id }, body: { name: "Mine", period: "all" }, as })).status).toBe(403);
  });
});
