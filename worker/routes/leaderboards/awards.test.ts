import { beforeAll, describe, expect, test, vi } from "vitest";
import { committedEvents } from "#test/committed-events.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { leaderboardsOf, parseLedger, ranksOf } from "#test/leaderboards.ts";
import { newId } from "#worker/lib/ids.ts";
import { AwardResults, PointsAwarded } from "#worker/services/leaderboards/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newBoard, award, awardAll, page, ranks, own, board, crowd } = leaderboardsOf(() => site);
const byRule = { reason: "", at: Date.now(), rule: { on: "poll.answered" as const } };
const person = (name: "viewer" | "reader" | "creator" | "admin") => site.accounts[name].id;
const exported = async (id: string) => parseLedger((await site.call("exportLeaderboard", { params: { id } })).text);

describe("an award", () => {
  test("counts once by its awardId, however often and at the same time it is sent", async () => {
    const { _id } = await newBoard();
    const body = { accountId: person("viewer"), points: 25, reason: "Costume", awardId: "costume-1" };
    const responses = await Promise.all(Array.from({ length: 6 }, () => award(_id, body)));
    const statuses = responses.map((response) => response.as(AwardResults).awards[0]?.status).sort();
    expect(statuses).toEqual(["awarded", ...Array.from({ length: 5 }, () => "repeated")]);
    expect(await ranks(_id)).toEqual([[1, "viewer", 25]]);
    const changed = await award(_id, { ...body, points: 26 });
    expect(changed.problem).toMatchObject({ status: 409, code: "conflict" });
    expect((await award(_id, { ...body, accountId: person("reader") })).status).toBe(409);
  });

  test("with an Idempotency-Key counts once without an awardId", async () => {
    const { _id } = await newBoard();
    const headers = { "Idempotency-Key": `award-${_id}` };
    for (let n = 0; n < 2; n++)
      expect((await award(_id, { accountId: person("viewer"), points: 5 }, "developer", headers)).status).toBe(201);
    expect(await ranks(_id)).toEqual([[1, "viewer", 5]]);
  });

  test("of a list has an outcome of its own, and the others are recorded", async () => {
    const { _id } = await newBoard();
    const outsider = (await newSite()).accounts.viewer.id;
    const awards = [
      { accountId: person("viewer"), points: 3, awardId: "a" },
      { accountId: outsider, points: 3, awardId: "b" },
      { accountId: person("reader"), points: 4, awardId: "a" },
      { accountId: person("reader"), points: -2, awardId: "c" },
      { accountId: person("viewer"), points: 3, awardId: "a" },
    ];
    const { awards: results } = (await award(_id, { awards })).as(AwardResults);
    expect(results.map(({ status, code, total }) => [status, code, total])).toEqual([
      ["awarded", undefined, 3],
      ["rejected", "not_found", null],
      ["rejected", "conflict", null],
      ["awarded", undefined, -2],
      ["repeated", undefined, 3],
    ]);
    expect(await ranks(_id)).toEqual([
      [1, "viewer", 3],
      [2, "reader", -2],
    ]);
  });

  test.each([
    ["an account of another site", async () => ({ accountId: (await newSite()).accounts.viewer.id, points: 1 }), ["accountId"]],
    ["no points", async () => ({ accountId: person("viewer"), points: 0 }), ["points"]],
    [
      "a list beside a single award",
      async () => ({ accountId: person("viewer"), awards: [{ accountId: person("viewer"), points: 1 }] }),
      ["accountId"],
    ],
    ["neither", async () => ({}), ["accountId", "points"]],
    [
      "more than 500 awards",
      async () => ({ awards: Array.from({ length: 501 }, () => ({ accountId: person("viewer"), points: 1 })) }),
      ["awards"],
    ],
  ])("is rejected with %s", async (_, body, fields) => {
    const response = await award((await newBoard())._id, await body());
    expect(response.status).toBe(400);
    expect(response.fields).toEqual(fields);
  });

  test("is announced in the site's log, at most once a second with the sum of all", async () => {
    const { _id } = await newBoard();
    await awardAll(_id, [
      [person("viewer"), 5],
      [person("reader"), 7],
    ]);
    await award(_id, { accountId: person("viewer"), points: 1 });
    await vi.waitFor(async () => {
      const events = await committedEvents([site.id]);
      const announced = events.filter(({ type, resource }) => type === "leaderboard.pointsAwarded" && resource === `leaderboard/${_id}`);
      const sums = announced.map(({ data }) => PointsAwarded.parse(JSON.parse(data)));
      expect(sums.reduce((sum, { awards }) => sum + awards, 0)).toBe(3);
      expect(sums.reduce((sum, { points }) => sum + points, 0)).toBe(13);
    });
  });
});

describe("the ranks", () => {
  test("are shared by equal points, in the order in which they were reached", async () => {
    const { _id } = await newBoard();
    await awardAll(_id, [
      [person("viewer"), 10],
      [person("reader"), 5],
      [person("creator"), 10],
      [person("admin"), 4],
      [person("reader"), 5],
    ]);
    expect(await ranks(_id)).toEqual([
      [1, "viewer", 10],
      [1, "creator", 10],
      [1, "reader", 10],
      [4, "admin", 4],
    ]);
    expect(await own(_id, "admin", { neighbours: 1 })).toMatchObject({
      rank: 4,
      points: 4,
      members: 4,
      before: [{ rank: 1, name: "reader" }],
      after: [],
    });
  });

  test("include the caller without points as somebody without a rank", async () => {
    const { _id } = await newBoard();
    expect(await own(_id)).toEqual({
      ...{ rank: null, accountId: person("viewer"), name: "viewer", points: 0, hidden: false, members: 0, before: [], after: [] },
    });
  });

  test("show an account's current name, and neither name nor id once it is hidden", async () => {
    const own2 = await newSite();
    const boards = leaderboardsOf(() => own2);
    const { _id } = await boards.newBoard();
    const id = own2.accounts.viewer.id;
    await boards.awardAll(_id, [
      [own2.accounts.reader.id, 9],
      [id, 3],
    ]);
    const update = (body: Record<string, unknown>) => own2.call("updateAccount", { as: "viewer", params: { id }, body });
    await update({ name: "Vera" });
    expect(await boards.ranks(_id)).toEqual([
      [1, "reader", 9],
      [2, "Vera", 3],
    ]);
    await update({ name: "Vera", leaderboardHidden: true });
    expect((await boards.page(_id)).results[1]).toEqual({ rank: 2, accountId: null, name: null, points: 3 });
    expect(await boards.own(_id)).toMatchObject({ rank: 2, name: "Vera", hidden: true });
    // Unchanged if omitted.
    await update({ name: "Vera B" });
    expect((await boards.page(_id)).results[1]).toMatchObject({ name: null });
    await update({ name: "Vera B", leaderboardHidden: false });
    expect((await boards.page(_id)).results[1]).toMatchObject({ name: "Vera B" });
  });

  test("keep the points of a deleted account without its name, and it gets no more", async () => {
    const own2 = await newSite();
    const boards = leaderboardsOf(() => own2);
    const { _id } = await boards.newBoard();
    const id = own2.accounts.viewer.id;
    await boards.award(_id, { accountId: id, points: 7, reason: "Said by Vera", awardId: "costume-of-Vera" });
    await boards.board(_id).award([{ ...byRule, accountId: id, points: 1, cause: `poll.answered/of-${id}/1` }]);
    await boards.award(_id, { accountId: own2.accounts.reader.id, points: 2, awardId: "costume-of-Rea" });
    await own2.call("deleteAccount", { params: { id } });
    await vi.waitFor(async () => {
      const { text } = await own2.call("exportLeaderboard", { params: { id: _id } });
      expect(text).not.toContain(id);
      expect(text).not.toContain("Vera");
    });
    expect(await boards.ranks(_id)).toEqual([
      [1, null, 8],
      [2, "reader", 2],
    ]);
    const late = { ...byRule, accountId: id, points: 1, cause: "poll.answered/x/1" };
    expect(await boards.board(_id).award([late])).toMatchObject([{ ok: false, code: "not_found" }]);
    const ledger = parseLedger((await own2.call("exportLeaderboard", { params: { id: _id } })).text);
    expect(ledger.map(({ account_id, points, cause, reason }) => [account_id, points, cause, reason])).toEqual([
      ["", "7", "erased/1", ""],
      ["", "1", "erased/2", ""],
      [own2.accounts.reader.id, "2", "award/costume-of-Rea", ""],
    ]);
  });

  test("of 10,000 members are paged without gaps, from a cursor and from an offset", async () => {
    const { _id } = await newBoard();
    const ids = Array.from({ length: 10_000 }, (_, n) => newId(n + 1));
    const rule = { on: "poll.answered" as const };
    const awards = ids.map((accountId, n) => ({ accountId, points: 1 + (n % 700), reason: "", cause: "c", at: 1, rule }));
    for (let from = 0; from < awards.length; from += 2_000) await board(_id).award(awards.slice(from, from + 2_000));
    const seen: [number, number][] = [];
    for (let path: URLSearchParams | null = new URLSearchParams({ limit: "200" }); path;) {
      const { results, pagination } = await page(_id, Object.fromEntries(path));
      expect(pagination.totalCount).toBe(10_000);
      seen.push(...results.map(({ rank, points }): [number, number] => [rank, points]));
      path = pagination.next === null ? null : new URLSearchParams(pagination.next.split("?")[1]);
    }
    const points = awards.map((one) => one.points).sort((a, b) => b - a);
    const rankOf = new Map<number, number>();
    points.forEach((one, index) => rankOf.set(one, rankOf.get(one) ?? index + 1));
    expect(seen).toEqual(points.map((one) => [rankOf.get(one), one]));
    for (const offset of [0, 1, 4_321, 9_999, 10_000]) {
      const { results } = await page(_id, { limit: 3, offset });
      expect(results.map(({ rank, points: each }) => [rank, each])).toEqual(seen.slice(offset, offset + 3));
    }
    expect((await site.call("listRanks", { as: "client", params: { id: _id }, query: { cursor: "x" } })).fields).toEqual(["cursor"]);
  });

  test("can be recomputed from the export, corrections included", async () => {
    const { _id } = await newBoard();
    const ids = await crowd(12, "exported");
    await awardAll(
      _id,
      Array.from({ length: 60 }, (_, n): [string, number] => [ids[(n * 7) % 12] ?? "", (n % 5) - 2 || 3]),
    );
    const ledger = await exported(_id);
    expect(ledger).toHaveLength(60);
    const { results } = await page(_id, { limit: 200 });
    expect(ranksOf(ledger).map(({ rank, points }) => [rank, points])).toEqual(results.map(({ rank, points }) => [rank, points]));
    const accountOf = new Map(ledger.map(({ member, account_id }) => [member, account_id]));
    expect(ranksOf(ledger).map(({ member }) => accountOf.get(member))).toEqual(results.map(({ accountId }) => accountId));
  });

  test("are gone with the leaderboard, whose object takes no more awards", async () => {
    const { _id } = await newBoard();
    await awardAll(_id, [[person("viewer"), 5]]);
    await site.call("deleteLeaderboard", { params: { id: _id } });
    await vi.waitFor(async () => expect((await board(_id).ranks({ offset: 0 }, 10)).members).toBe(0));
    const rule = { on: "poll.answered" as const };
    const late = { accountId: person("viewer"), points: 1, reason: "", cause: "c", at: 1, rule };
    expect(await board(_id).award([late])).toMatchObject([{ ok: false, code: "not_found" }]);
  });
});
