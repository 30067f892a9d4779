import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { type CallOptions, newSite, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { AccountEntitlement, Granted, Subscription } from "#worker/services/subscriptions/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

const required = () => ({ siteId: site.id, name: "Cup pass", sku: `cup-${randomHex(5)}`, subscriptionProvider: "external" });

async function create(body: Record<string, unknown> = {}) {
  return (await site.call("createSubscription", { body: { ...required(), ...body } })).as(Subscription);
}

async function eventsOf(id: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource.endsWith(`/${id}`)).map((event) => event.type);
}

const fan = () => site.addAccount(`fan-${randomHex(5)}`, []);

describe("a subscription", () => {
  test("requires a name, a sku, a site and a provider; everything else has a default", async () => {
    expect(await create()).toMatchObject({ prices: [], recurrence: null, previewDurationSeconds: 0, tags: [], stripePlanId: null });
    for (const field of Object.keys(required())) {
      const body = { ...required(), [field]: undefined };
      expect((await site.call("createSubscription", { body })).fields).toEqual([field]);
    }
    expect((await site.call("createSubscription", { body: { ...required(), siteId: other.id } })).fields).toEqual(["siteId"]);
  });

  test.each([
    ["two defaults", [price("gbp", true), price("eur", true)]],
    ["no default", [price("gbp", false)]],
    ["two prices in a currency", [price("gbp", true), price("gbp", false)]],
    ["a currency in upper case", [price("GBP", true)]],
    ["a currency that is none", [price("zzz", true)]],
    ["parts of a minor unit", [{ ...price("gbp", true), value: 9.5 }]],
    ["a negative value", [{ ...price("gbp", true), value: -1 }]],
  ])("rejects a list of prices with %s", async (_name, prices) => {
    const response = await site.call("createSubscription", { body: { ...required(), prices } });
    expect(response.status).toBe(400);
    expect(response.fields[0]).toMatch(/^prices/);
  });

  test("has a unique sku on its site, also with concurrent requests, but not across sites", async () => {
    const body = required();
    const responses = await Promise.all(Array.from({ length: 4 }, () => site.call("createSubscription", { body })));
    expect(responses.map((response) => response.status).sort()).toEqual([201, 409, 409, 409]);
    expect((await other.call("createSubscription", { body: { ...body, siteId: other.id } })).status).toBe(201);
    const { siteId } = (await other.call("getSubscriptionBySku", { params: { sku: body.sku } })).as(Subscription);
    expect(siteId).toBe(other.id);
  });

  test("can be read by id and sku with the client id, but not from another site", async () => {
    const created = await create({ prices: [price("gbp", true), price("eur", false)], recurrence: "month", tags: ["cup"] });
    const byId = await site.call("getSubscription", { as: "client", params: { id: created._id } });
    const shown = Object.fromEntries(Object.entries(created).filter(([field]) => field !== "stripePlanId"));
    expect(byId.as(Subscription)).toEqual(shown);
    expect((await site.call("getSubscriptionBySku", { as: "client", params: { sku: created.sku } })).as(Subscription)).toEqual(shown);
    expect((await other.call("getSubscriptionBySku", { params: { sku: created.sku } })).status).toBe(404);
  });

  test("returns the ids at the payment provider only to managers of the site", async () => {
    const { viewer } = site.accounts;
    const created = await create({ stripePlanId: "price_plan", prices: [{ ...price("gbp", true), paymentPlanId: "price_gbp" }] });
    await site.call("grantSubscription", { body: { accountId: viewer.id, sku: created.sku } });
    const reads: [string, CallOptions][] = [
      ["getSubscription", { params: { id: created._id } }],
      ["getSubscriptionBySku", { params: { sku: created.sku } }],
      ["listSubscriptions", { query: { sku: created.sku } }],
    ];
    for (const [operation, options] of reads) {
      for (const as of ["client", "viewer", "creator"] as const) {
        const { text } = await site.call(operation, { ...options, as });
        expect(text).toContain(created.sku);
        expect(text).not.toMatch(/price_|PlanId/);
      }
      for (const as of ["developer", "reader"] as const)
        expect((await site.call(operation, { ...options, as })).text).toMatch(/price_gbp.*price_plan/);
    }
    const own = await site.call("listOwnEntitlements", { as: "viewer", query: { sku: created.sku } });
    expect(own.text).toContain(created.sku);
    expect(own.text).not.toMatch(/price_|PlanId/);
  });

  test("is changed field by field and publishes an event", async () => {
    const created = await create({ prices: [price("gbp", true)], tags: ["cup"] });
    const sku = `cup-${randomHex(5)}`;
    const body = { name: "Final pass", sku, subscriptionProvider: "stripe", recurrence: "year" };
    const changed = (await site.call("updateSubscription", { params: { id: created._id }, body })).as(Subscription);
    expect(changed).toMatchObject({ ...created, ...body, modified: changed.modified });
    expect(await eventsOf(created._id)).toEqual(["subscription.created", "subscription.updated"]);
    const stale = { "If-Match": '"v1"' };
    expect((await site.call("updateSubscription", { params: { id: created._id }, body, headers: stale })).status).toBe(412);
    const taken = (await create()).sku;
    expect((await site.call("updateSubscription", { params: { id: created._id }, body: { sku: taken } })).status).toBe(409);
  });

  test("that accounts hold can't change its sku or be deleted; the error says how many hold it", async () => {
    const created = await create();
    const [first, second] = [await fan(), await fan()];
    for (const { id } of [first, second]) await site.call("grantSubscription", { body: { accountId: id, sku: created.sku } });
    const params = { id: created._id };
    const rejected = await site.call("deleteSubscription", { params });
    expect([rejected.status, rejected.problem?.message]).toEqual([409, `2 accounts hold ${created.sku}: it can't be deleted`]);
    const moved = await site.call("updateSubscription", { params, body: { sku: `other-${randomHex(4)}` } });
    expect([moved.status, moved.problem?.message]).toEqual([409, `2 accounts hold ${created.sku}: its sku can't change`]);
    for (const { id } of [first, second]) {
      expect((await site.call("revokeSubscription", { query: { accountId: id, sku: created.sku } })).status).toBe(200);
    }
    expect((await site.call("deleteSubscription", { params })).status).toBe(200);
    expect((await site.call("getSubscription", { params })).status).toBe(404);
  });

  test("is in the list for any client, last changed first, filtered and searched", async () => {
    const own = await newSite();
    for (const name of ["Alpha", "Beta", "Gamma"]) {
      const body = { ...required(), siteId: own.id, name, recurrence: name === "Beta" ? "month" : "once" };
      await own.call("createSubscription", { body });
    }
    const list = async (query: Record<string, string | number>) =>
      (await own.call("listSubscriptions", { as: "client", query })).as(listOf(Subscription)).results.map((row) => row.name);
    expect(await list({})).toEqual(["Gamma", "Beta", "Alpha"]);
    expect(await list({ sortBy: "name", sortDirection: 1, limit: 1, offset: 1 })).toEqual(["Beta"]);
    expect(await list({ recurrence: "month" })).toEqual(["Beta"]);
    expect(await list({ search: "gam" })).toEqual(["Gamma"]);
  });
});

describe("an account", () => {
  test("is granted a sku only once, and lists it with its subscription", async () => {
    const { sku, _id } = await create();
    const { id } = await fan();
    const grant = () => site.call("grantSubscription", { body: { accountId: id, sku } });
    const granted = (await Promise.all([grant(), grant(), grant()])).map((response) => response.as(Granted).accountEntitlementId);
    expect(new Set(granted).size).toBe(1);
    const { results } = (await site.call("listEntitlements", { params: { accountId: id } })).as(listOf(AccountEntitlement));
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      _id: granted[0],
      entitlement: sku,
      status: "active",
      grantedMethod: "customerService",
      price: 0,
      subscription: { _id },
    });
    expect(await eventsOf(granted[0] ?? "")).toEqual(["entitlement_granted"]);
  });

  test("can only be granted skus of its own site", async () => {
    const { sku } = await create();
    const { id } = await fan();
    const grant = (accountId: string, wanted: string) => site.call("grantSubscription", { body: { accountId, sku: wanted } });
    expect((await grant(id, "no-such-sku")).problem?.message).toBe("Subscription not found");
    expect((await grant(other.accounts.viewer.id, sku)).problem?.message).toBe("Account not found");
  });

  test("loses a revoked sku once, and the record is kept", async () => {
    const { sku } = await create();
    const { id } = await fan();
    await site.call("grantSubscription", { body: { accountId: id, sku } });
    const revoke = () => site.call("revokeSubscription", { as: "admin", query: { accountId: id, sku } });
    expect((await revoke()).status).toBe(200);
    expect([(await revoke()).status, (await revoke()).problem?.message]).toEqual([404, "The account does not hold this sku"]);
    const { results } = (await site.call("listEntitlements", { params: { accountId: id } })).as(listOf(AccountEntitlement));
    expect(results.map((row) => row.status)).toEqual(["cancelled"]);
    expect((await revoke()).status).toBe(404);
  });

  test("can't have a recurring entitlement revoked", async () => {
    const { sku } = await create({ recurrence: "month" });
    const { id } = await fan();
    await site.call("grantSubscription", { body: { accountId: id, sku } });
    await db
      .update(accountEntitlements)
      .set({ price: 900, dateEnds: Date.now() + 1e9 })
      .where(eq(accountEntitlements.accountId, id));
    const rejected = await site.call("revokeSubscription", { query: { accountId: id, sku } });
    expect([rejected.status, rejected.problem?.message]).toEqual([
      409,
      "This entitlement is recurring; cancel it to stop the payments too",
    ]);
  });

  test("can list its own entitlements by status, and those of others only as an admin", async () => {
    const { sku } = await create();
    const { viewer } = site.accounts;
    await site.call("grantSubscription", { body: { accountId: viewer.id, sku } });
    const own = (query: Record<string, string>) => site.call("listOwnEntitlements", { as: "viewer", query });
    expect((await own({ sku })).as(listOf(AccountEntitlement)).results.map((row) => row.entitlement)).toEqual([sku]);
    expect((await own({ sku, status: "cancelled" })).as(listOf(AccountEntitlement)).results).toEqual([]);
    const byId = (accountId: string) => site.call("listEntitlements", { as: "viewer", params: { accountId } });
    expect((await byId(viewer.id)).as(listOf(AccountEntitlement)).results.map((row) => row.entitlement)).toContain(sku);
    for (const { id } of [site.accounts.admin, await fan(), other.accounts.viewer]) expect((await byId(id)).status).toBe(403);
    expect((await site.call("listEntitlements", { params: { accountId: other.accounts.viewer.id } })).status).toBe(404);
    expect((await site.call("listEntitlements", { params: { accountId: (await fan()).id } })).status).toBe(200);
  });
});

function price(currency: string, isDefault: boolean) {
  return { currency, default: isDefault, value: 900 };
}
