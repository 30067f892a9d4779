import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import { claims } from "#db/schema/engagement/quests.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { linesOf } from "#test/insights.ts";
import { newId } from "#worker/lib/ids.ts";
import { SegmentFigures, SegmentHour } from "#worker/services/insights/engagement-schemas.ts";
import { siteStore } from "#test/site-store.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 9, 1, 12);
const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await saveSegments(site);
});

async function saveSegments(on: TestSite): Promise<void> {
  const tagged = { attribute: "tags", operator: "any_of", value: ["team:home"] };
  const readers = { attribute: "language", operator: "any_of", value: ["en"] };
  const userSegments = { fans: { name: "Fans", filter: tagged }, readers: { name: "Readers", filter: readers } };
  await on.call("updateSite", { body: { name: "Harbour City", settings: { security: {}, userSegments } } });
}

let names = 0;

/** An account, in the segment or not, that did one of each at a moment. */
async function addActive(isFan: boolean, at: number, on = site): Promise<string> {
  const { id: accountId } = await on.addAccount(`active-${names++}`, []);
  if (isFan) await db.run(`update accounts set tags = '["team:home"]' where id = '${accountId}'`);
  const siteId = on.id;
  const [channelId] = on.channels;
  const times = { created: at, modified: at };
  await db.batch([
    db.insert(viewerActivity).values({
      ...{ siteId, accountId, kind: "watch", targetId: "video", channelId, startMinute: at / 60_000, seconds: 90 },
      ...{ firstAt: at, lastAt: at + 90_000 },
    }),
    db.insert(pollResponses).values({ siteId, pollId: newId(at), accountId, n: 1, answerId: "a", created: at }),
    db.insert(claims).values({ id: newId(at), siteId, questId: newId(at), accountId, rewardType: "prize", status: "SUCCESS", ...times }),
    ...(["bundle", "donation"] as const).map((itemType) =>
      db.insert(charges).values({
        ...{ id: newId(at), siteId, accountId, amount: 500, currency: "gbp", itemType, itemId: "x", description: "", skus: [] },
        ...{ status: "complete" as const, ...times },
      }),
    ),
  ]);
  return accountId;
}

async function figures(slug: string, query: Record<string, string | number> = {}, on = site) {
  return on.call("getSegmentFigures", { params: { slug }, query });
}

describe("a segment's figures", () => {
  test("add up what its accounts did, hour by hour, and nothing of others", async () => {
    await addActive(true, START + 60_000);
    await addActive(true, START + 59 * 60_000);
    await addActive(true, START + 2 * HOUR);
    await addActive(false, START + 60_000);
    const { results } = (await figures("fans", { from: START, to: START + 3 * HOUR })).as(SegmentFigures);
    const nothing = { viewers: 0, watchMinutes: 0, votes: 0, claims: 0, purchases: 0, donations: 0 };
    expect(results).toEqual([
      { hour: START, viewers: 2, watchMinutes: 3, votes: 2, claims: 2, purchases: 2, donations: 2 },
      { hour: START + HOUR, ...nothing },
      { hour: START + 2 * HOUR, viewers: 1, watchMinutes: 1.5, votes: 1, claims: 1, purchases: 1, donations: 1 },
    ]);
    const [head, ...lines] = linesOf(await figures("fans", { from: START, to: START + 3 * HOUR, format: "csv" }));
    expect(head).toEqual(Object.keys(SegmentHour.shape));
    expect(lines).toEqual(results.map(({ hour, ...rest }) => [new Date(hour).toISOString(), ...Object.values(rest).map(String)]));
  });

  test("are of the site's own accounts: another site's segment of the same name has its own", async () => {
    const other = await newSite();
    await saveSegments(other);
    await addActive(true, START + 10 * HOUR, other);
    const query = { from: START + 10 * HOUR, to: START + 11 * HOUR };
    expect((await figures("fans", query)).as(SegmentFigures).results).toMatchObject([{ viewers: 0, votes: 0 }]);
    expect((await figures("fans", query, other)).as(SegmentFigures).results).toMatchObject([{ viewers: 1, votes: 1 }]);
  });

  test("can't be computed for a filter on the connection, nor for more than 31 days or a segment that isn't there", async () => {
    expect(await figures("readers")).toMatchObject({ status: 400, fields: ["slug"] });
    expect((await figures("fans", { from: START, to: START + 32 * 24 * HOUR })).status).toBe(400);
    for (const slug of ["nobody", "constructor"]) expect((await figures(slug)).status, slug).toBe(404);
    expect((await figures("fans", {}, await newSite())).status).toBe(404);
  });

  test("are for developer keys only", async () => {
    for (const as of ["client", "viewer", "admin"] as const)
      expect([401, 403]).toContain((await site.call("getSegmentFigures", { as, params: { slug: "fans" } })).status);
  });

  test("need a key that may read accounts, because a segment can be a single person", async () => {
    const withKey = async (roles: string[]) => {
      const headers = { "Tifo-Developer-Key": await site.addKey(roles) };
      return site.call("getSegmentFigures", { as: "client", params: { slug: "fans" }, headers });
    };
    expect((await withKey(["insights:read"])).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await withKey(["insights:read", "account:read"])).status).toBe(200);
  });

  test("are read from the accounts by index, in one round trip besides the caller's and the site's", async () => {
    const prepare = vi.spyOn(siteStore, "prepare");
    const { log } = await figures("fans", { from: START, to: START + HOUR });
    const queries = [...new Set(prepare.mock.calls.map(([query]) => query))].filter((query) => /cross join/.test(query));
    prepare.mockRestore();
    expect(log.d1).toMatchObject({ roundTrips: 3 });
    expect(queries).toHaveLength(4);
    for (const query of queries) {
      const bound = siteStore.prepare(`explain query plan ${query}`).bind(...(query.match(/\?/g) ?? []).map(() => null));
      const plan = (await bound.all<{ detail: string }>()).results.map(({ detail }) => detail);
      expect(
        plan.filter((step) => /^SCAN (?!json_each)/.test(step)),
        plan.join("\n"),
      ).toEqual([]);
      const tables = plan.filter((step) => /^SEARCH (accounts|viewer_activity|poll_responses|claims|charges) /.test(step));
      expect(tables[0], plan.join("\n")).toMatch(/accounts/);
      expect(tables[1], plan.join("\n")).toMatch(/account_id=\?/);
    }
  });
});
