import { beforeAll, describe, expect, test, vi } from "vitest";
import { type CallOptions, newSite, type TestSite } from "#test/harness.ts";
import { linesOf } from "#test/insights.ts";
import { bought } from "#test/revenue.ts";
import { Charge } from "#worker/services/billing/schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Revenue } from "#worker/services/insights/engagement-schemas.ts";
import { siteStore } from "#test/site-store.ts";

const DAY = 86_400_000;
const START = 20_500 * DAY;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await bought(site, { amount: 1900, refunded: 400, created: START + 5 });
  await bought(site, { amount: 700, itemType: "donation", created: START + 6 });
  await bought(site, { amount: 500, currency: "jpy", created: START + DAY });
  await bought(site, { amount: 9999, status: "pending", created: START + 7 });
  await bought(site, { amount: 8888, created: START - 1 });
});

const range = { from: START, to: START + 2 * DAY };

async function revenue(options: CallOptions = {}, on = site) {
  return (await on.call("getRevenue", { query: range, ...options })).as(Revenue).results;
}

describe("the revenue", () => {
  test("adds up completed payments per day and currency", async () => {
    const none = { purchases: 0, sold: 0, donations: 0, donated: 0, refunded: 0 };
    expect(await revenue()).toEqual([
      { ...none, day: START, currency: "gbp", purchases: 1, sold: 1900, donations: 1, donated: 700, refunded: 400 },
      { ...none, day: START + DAY, currency: "jpy", purchases: 1, sold: 500 },
    ]);
  });

  test("starts with the first moment of a day", async () => {
    expect((await revenue({ query: { from: START + 12 * 3_600_000, to: START + DAY } })).map(({ day }) => day)).toEqual([START]);
  });

  test("is read by site admins, also read-only ones, and by no other account or site", async () => {
    expect(await revenue({ as: "reader" })).toHaveLength(2);
    for (const as of ["viewer", "creator"] as const) expect((await site.call("getRevenue", { as, query: range })).status).toBe(403);
    expect(await revenue({}, await newSite())).toEqual([]);
  });

  test("is returned as CSV", async () => {
    const response = await site.call("getRevenue", { query: { ...range, format: "csv" } });
    expect(linesOf(response)[1]).toEqual([new Date(START).toISOString().slice(0, 10), "gbp", "1", "1900", "1", "700", "400"]);
  });

  test("reads only the range's charges, and a site's list of charges only its page", async () => {
    const prepare = vi.spyOn(siteStore, "prepare");
    await revenue();
    await site.call("listCharges", { as: "reader", query: { scope: "site" } });
    const queries = prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('from "charges"'));
    prepare.mockRestore();
    expect(queries.length).toBeGreaterThan(1);
    for (const query of queries) {
      const bound = siteStore.prepare(`explain query plan ${query}`).bind(...(query.match(/\?/g) ?? []).map(() => null));
      const plan = (await bound.all<{ detail: string }>()).results.map(({ detail }) => detail);
      expect(plan[0], plan.join("\n")).toMatch(/^SEARCH charges USING .*INDEX charges_\w+ \(site_id=\?/);
    }
  });
});

describe("the list of a site's charges", () => {
  test("has those of all accounts, for site admins only", async () => {
    const listed = (await site.call("listCharges", { as: "reader", query: { scope: "site", status: "complete" } })).as(listOf(Charge));
    expect(listed.results.map(({ amount }) => amount)).toEqual([500, 700, 1900, 8888]);
    for (const as of ["viewer", "creator"] as const)
      expect((await site.call("listCharges", { as, query: { scope: "site" } })).status).toBe(403);
    const foreign = (await (await newSite()).call("listCharges", { as: "admin", query: { scope: "site" } })).as(listOf(Charge));
    expect(foreign.results).toEqual([]);
  });
});
