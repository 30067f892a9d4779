import { beforeAll, describe, expect, test, vi } from "vitest";
import { eq, inArray } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import type { InsightMetric } from "#db/enums.ts";
import { insightCursors, insightHours, insightReach } from "#db/schema/insights.ts";
import { apiKeys } from "#db/schema/sites.ts";
import { allOf, ctxOf } from "#test/callers.ts";
import { type Caller, type CallOptions, newSite, type TestSite } from "#test/harness.ts";
import { insightCalls, linesOf } from "#test/insights.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId } from "#worker/lib/ids.ts";
import { exportEngagement } from "#worker/services/insights/engagement.ts";
import { Engagement, EngagementHour, EngagementQuery } from "#worker/services/insights/engagement-schemas.ts";
import { foldReach, pruneInsightCursors, pruneInsights } from "#worker/services/insights/impressions.ts";
import { siteStore } from "#test/site-store.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 9, 1, 12);
const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { engagement, reach } = insightCalls(() => site);

async function store(on: TestSite, channelId: string, hour: number, figures: Partial<Record<InsightMetric, number>>): Promise<void> {
  for (const [metric, value] of Object.entries(figures))
    await db.run(
      `insert into insight_hours (site_id, channel_id, hour, metric, value) values ('${on.id}', '${channelId}', ${hour}, '${metric}', ${value})`,
    );
}

describe("engagement", () => {
  test("lists every hour of each channel in order, with zeros where nothing happened", async () => {
    const [first, second] = site.channels;
    await store(site, first, START + HOUR, {
      peakViewers: 420,
      viewerSeconds: 90_003,
      overlayImpressions: 40,
      pollImpressions: 2,
      callsToAction: 7,
    });
    await store(site, "", START, { votes: 3, claims: 2, sitePeakViewers: 500 });
    const results = await engagement({ from: START, to: START + 2 * HOUR });
    expect(results.map(({ channelId, hour }) => [channelId, (hour - START) / HOUR])).toEqual(
      [null, first, second].flatMap((channelId) => [0, 1].map((hour) => [channelId, hour])),
    );
    const nothing = { peakViewers: 0, impressions: 0, votes: 0, claims: 0 };
    expect(results[0]).toMatchObject({ votes: 3, claims: 2, peakViewers: 0 });
    expect(results[2]).toMatchObject(nothing);
    expect(results[3]).toMatchObject({ peakViewers: 420, watchMinutes: 1500.1, impressions: 42, overlayImpressions: 40, actions: 7 });
  });

  test("of the site adds up its channels, except for what is counted for the site as a whole", async () => {
    const own = await newSite();
    const [first, second] = own.channels;
    await store(own, first, START, { peakViewers: 10, viewerSeconds: 600, newViewers: 4, messages: 5 });
    await store(own, second, START, { peakViewers: 20, viewerSeconds: 60, newViewers: 3, messages: 6 });
    await store(own, "", START, { sitePeakViewers: 25, siteNewViewers: 6, votes: 1 });
    const results = await engagement({ from: START, to: START + 2 * HOUR, by: "site" }, own);
    expect(results).toMatchObject([
      { channelId: null, hour: START, peakViewers: 25, watchMinutes: 11, newViewers: 6, messages: 11, votes: 1 },
      { channelId: null, hour: START + HOUR, peakViewers: 0, messages: 0 },
    ]);
  });

  test.for([1, 2, 3, 7, 50])("is the same in pages of %d", async (limit) => {
    const own = await newSite();
    const [first, second] = own.channels;
    for (let hour = 0; hour < 9; hour += 2) {
      await store(own, first, START + hour * HOUR, { votes: hour + 1 });
      await store(own, second, START + hour * HOUR, { messages: hour + 1 });
    }
    const range = { from: START, to: START + 9 * HOUR };
    const expected = await engagement(range, own);
    expect(expected).toHaveLength(27);
    const paged: EngagementHour[] = [];
    let query: Record<string, string | number> | null = { ...range, limit };
    while (query) {
      const page: Engagement = (await own.call("getEngagement", { query })).as(Engagement);
      expect(page.results.length).toBeLessThanOrEqual(limit);
      paged.push(...page.results);
      const { next } = page.pagination;
      query = next === null ? null : Object.fromEntries(new URL(next, "https://tifo.test").searchParams);
    }
    expect(paged).toEqual(expected);
    const csv = await own.call("getEngagement", { query: { ...range, format: "csv" } });
    const [head, ...lines] = linesOf(csv);
    expect(head).toEqual(Object.keys(EngagementHour.shape));
    expect(lines).toEqual(
      expected.map(({ channelId, hour, ...figures }) => [
        channelId ?? "",
        new Date(hour).toISOString(),
        ...Object.values(figures).map(String),
      ]),
    );
  });

  test("ends, as CSV, when the key loses the permission", async () => {
    const own = await newSite();
    const roles = ["insights:read"];
    const hash = await sha256(await own.addKey(roles));
    const [key] = await db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.hash, hash));
    const caller = { kind: "developer", id: key?.id ?? "", roles } as const;
    const ctx = { ...ctxOf(own.id, own.accounts.admin), caller: async () => caller };
    const exported = () =>
      exportEngagement(ctx, EngagementQuery.parse({ from: String(START - 80 * DAY), to: String(START), format: "csv" }));
    const pieces = await exported();
    await pieces.next();
    await pieces.next();
    expect((await allOf(await exported())).length).toBeGreaterThan(5);
    await db.update(apiKeys).set({ roles: [] }).where(eq(apiKeys.id, caller.id));
    await expect(allOf(pieces)).rejects.toThrow("permission");
  });

  test("continues after a channel that was deleted meanwhile", async () => {
    const own = await newSite();
    const gone = newId(Date.now() + 5);
    const after = [...own.channels, gone].sort().filter((id) => id > gone);
    const query = { from: START, to: START + 2 * HOUR, cursor: `${gone}.${START}` };
    expect((await engagement(query, own)).map(({ channelId }) => channelId)).toEqual(after.flatMap((id) => [id, id]));
  });

  test("isn't shown to another site, nor for its channels", async () => {
    const other = await newSite();
    const [channelId] = site.channels;
    await store(site, channelId, START + 30 * HOUR, { votes: 9 });
    const query = { from: START + 30 * HOUR, to: START + 31 * HOUR };
    expect((await engagement(query, other)).map(({ votes }) => votes)).toEqual([0, 0, 0]);
    for (const operation of ["getEngagement", "getReach", "getConcurrentsHistory"]) {
      const as = "developer";
      expect((await other.call(operation, { as, query: { channelId } })).status, operation).toBe(404);
      expect((await site.call(operation, { as, query: { channelId } })).status, operation).toBe(200);
    }
  });

  test.each(["getEngagement", "getReach", "getConcurrentsHistory"])(
    "of %s is shown to a channel admin for channels of the role, and to nobody else",
    async (operation) => {
      const [mine, other] = site.channels;
      const status = async (query: CallOptions["query"], as: Caller = "creator") => (await site.call(operation, { as, query })).status;
      for (const format of ["json", "csv"]) {
        expect(await status({ channelId: mine, format })).toBe(200);
        expect(await status({ channelId: other, format })).toBe(403);
        expect(await status({ format })).toBe(403);
        expect(await status({ channelId: mine, format }, "viewer")).toBe(403);
        expect(await status({ format }, "reader")).toBe(200);
      }
      expect(await status({ channelId: newId(1) })).not.toBe(200);
    },
  );

  test("over time is limited to what is kept for the step, and to 2,500 steps", async () => {
    const fieldsOf = async (query: CallOptions["query"]) => (await site.call("getConcurrentsHistory", { as: "developer", query })).fields;
    const ago = (days: number) => Date.now() - days * 24 * HOUR;
    expect(await fieldsOf({ step: "minute", from: ago(2), to: ago(1.9) })).toEqual(["from"]);
    expect(await fieldsOf({ step: "5minutes", from: ago(8), to: ago(7.9) })).toEqual(["from"]);
    expect(await fieldsOf({ step: "hour", from: ago(402), to: ago(401) })).toEqual(["from"]);
    expect(await fieldsOf({ step: "hour", from: ago(110) })).toEqual(["to"]);
    expect(await fieldsOf({ step: "hour", from: ago(100) })).toEqual([]);
  });

  test("over time is of the caller's site, and of the one that the operator names", async () => {
    const other = await newSite();
    const history = async (as: Caller, query: CallOptions["query"] = {}) => {
      const { status, fields } = await site.call("getConcurrentsHistory", { as, query });
      return [status, ...fields];
    };
    expect(await history("developer", { siteId: site.id })).toEqual([200]);
    expect(await history("developer", { siteId: other.id })).toEqual([404]);
    expect(await history("super", { siteId: other.id })).toEqual([200]);
    expect(await history("super", { siteId: newId(1) })).toEqual([404]);
    expect(await history("super")).toEqual([400, "siteId"]);
  });

  test("of the whole site, and its revenue, isn't shown to a channel admin", async () => {
    expect((await site.call("getEngagement", { as: "creator", query: { by: "site" } })).status).toBe(403);
    expect((await site.call("getRevenue", { as: "creator" })).status).toBe(403);
  });

  test.for([
    [{ from: START, to: START }, "to"],
    [{ from: START, to: START + 93 * DAY }, "to"],
    [{ from: START - 200 * DAY }, "from"],
    [{ limit: 1001 }, "limit"],
    [{ by: "minute" }, "by"],
    [{ by: "site", channelId: newId(1) }, "channelId"],
    [{ cursor: "tomorrow" }, "cursor"],
  ] as const)("rejects %j", async ([query, path]) => {
    expect(await site.call("getEngagement", { query })).toMatchObject({ status: 400, fields: [path] });
  });

  test("reads only its page by an index", async () => {
    const prepare = vi.spyOn(siteStore, "prepare");
    await engagement({ from: START, to: START + DAY, limit: 10 });
    await engagement({ from: START, to: START + DAY, by: "site" });
    await reach({ from: START, to: START + DAY });
    await reach({ from: START, to: START + DAY, channelId: site.channels[0] });
    const queries = [...new Set(prepare.mock.calls.map(([query]) => query))].filter((query) => /^select.*insight_/s.test(query));
    prepare.mockRestore();
    expect(queries.length).toBe(4);
    for (const query of queries) {
      const bound = siteStore.prepare(`explain query plan ${query}`).bind(...(query.match(/\?/g) ?? []).map(() => null));
      const plan = (await bound.all<{ detail: string }>()).results.map(({ detail }) => detail);
      expect(
        plan.filter((step) => /^SCAN (?!segment)/.test(step)),
        plan.join("\n"),
      ).toEqual([]);
      expect(
        plan.some((step) => /^SEARCH insight_\w+ USING .*INDEX/.test(step)),
        plan.join("\n"),
      ).toBe(true);
    }
  });
});

describe("retention", () => {
  test("deletes figures after 400 days", async () => {
    const own = await newSite();
    const now = Date.now();
    const kept = now - (now % HOUR) - 400 * DAY + HOUR;
    await store(own, "", kept, { votes: 1 });
    await store(own, "", kept - 2 * HOUR, { votes: 1 });
    await pruneInsights({ db, now });
    const rows = await db.select().from(insightHours);
    expect(rows.filter(({ siteId }) => siteId === own.id).map(({ hour }) => hour)).toEqual([kept]);
  });

  test("deletes the cursors of old polls and of deleted channels' chats, once an hour", async () => {
    const [channelId] = site.channels;
    const now = Math.floor(Date.now() / HOUR) * HOUR;
    const sources = {
      old: `poll:${site.id}:${newId(1)}:0`,
      recent: `poll:${site.id}:${newId(2)}:0`,
      gone: `chat:${site.id}:${newId(3)}`,
      here: `chat:${site.id}:${channelId}`,
    };
    const put = (source: string, modified: number) => db.insert(insightCursors).values({ source, position: 1, modified });
    const { recent, ...others } = sources;
    await put(recent, now - DAY);
    for (const source of Object.values(others)) await put(source, now - 31 * DAY);
    const left = async () => {
      const ofTest = await db
        .select({ source: insightCursors.source })
        .from(insightCursors)
        .where(inArray(insightCursors.source, Object.values(sources)));
      return new Set(ofTest.map(({ source }) => source));
    };
    await pruneInsightCursors({ db, now: now + HOUR / 2 });
    expect(await left()).toEqual(new Set(Object.values(sources)));
    await pruneInsightCursors({ db, now });
    expect(await left()).toEqual(new Set([sources.recent, sources.here]));
  });

  test("folds what is below the 50 largest of a channel's day, two days later and once", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const now = Math.floor(Date.now() / DAY) * DAY + 12 * HOUR;
    const days = [now - 12 * HOUR - 2 * DAY, now - 12 * HOUR];
    for (const day of days)
      for (let value = 1; value <= 53; value++)
        await db.insert(insightReach).values({ siteId: own.id, channelId, day, kind: "overlay.shown", targetId: newId(value), value });
    for (let run = 0; run < 2; run++) await foldReach({ db, now });
    const read = async (day: number) =>
      (await reach({ channelId, from: day, to: day + DAY }, own)).map(({ id, shown }) => [id === null, shown]);
    const largest = Array.from({ length: 50 }, (_, index) => [false, 53 - index]);
    expect(await read(days[0] ?? 0)).toEqual([...largest.slice(0, 47), [true, 6], ...largest.slice(47)]);
    expect(await read(days[1] ?? 0)).toHaveLength(53);
  });
});
