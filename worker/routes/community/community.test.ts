import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { newSite, ORIGIN, type TestAccount, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { batchAll } from "#worker/services/core/context.ts";
import { grantEntitlement, type Grant } from "#worker/services/subscriptions/entitlements.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { Subscription } from "#worker/services/subscriptions/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Export, ExportState, MemberDetails, MemberList, Outcome } from "#worker/services/community/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const PAGE = { offset: 0, sortBy: "created", sortDirection: -1 };

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

function grant(of: TestSite, accountId: string, sku: string, more: Partial<Grant> = {}) {
  const input = { accountId, sku, grantedMethod: "customerService" as const, ...more };
  return asSystem({ env, db, now: Date.now() }, of.id, (ctx) => grantEntitlement(ctx, input));
}

async function newSubscription(of: TestSite, name: string) {
  const body = { siteId: of.id, name, sku: `pass-${randomHex(5)}`, subscriptionProvider: "external" };
  return (await of.call("createSubscription", { body })).as(Subscription);
}

async function list(of: TestSite, query: Record<string, string | number> = {}, as: "admin" | "reader" | "creator" = "admin") {
  return (await of.call("listMembers", { as, query: { ...PAGE, ...query } })).as(MemberList);
}

const namesOf = ({ results }: { results: { name: string }[] }) => results.map((member) => member.name);

describe("the members", () => {
  test("are listed in the requested order, which is required, with their skus", async () => {
    const own = await newSite();
    await grant(own, own.accounts.viewer.id, "season-pass");
    expect(namesOf(await list(own, { sortBy: "name", sortDirection: 1 }))).toEqual(["admin", "creator", "reader", "viewer"]);
    expect(namesOf(await list(own, { sortBy: "name", sortDirection: -1, limit: 1, offset: 1 }))).toEqual(["reader"]);
    const viewer = (await list(own)).results.find((member) => member.name === "viewer");
    expect(viewer).toMatchObject({ _id: own.accounts.viewer.id, subscriptions: ["season-pass"], email: own.accounts.viewer.email });
    for (const name of Object.keys(PAGE)) {
      const query = Object.fromEntries(Object.entries(PAGE).filter(([key]) => key !== name));
      expect((await own.call("listMembers", { query })).fields).toEqual([name]);
    }
    expect((await own.call("listMembers", { query: { ...PAGE, sortBy: "email" } })).fields).toEqual(["sortBy"]);
  });

  test("can be paged with the list's links", async () => {
    const own = await newSite();
    const pageOf = async (link: string | null) => {
      const query = Object.fromEntries(new URL(link ?? "", ORIGIN).searchParams);
      return (await own.call("listMembers", { as: "admin", query })).as(MemberList);
    };
    const first = await list(own, { sortBy: "name", sortDirection: 1, limit: 2, searchQuery: "e" });
    expect(namesOf(first)).toEqual(["admin", "creator"]);
    const second = await pageOf(first.pagination.next);
    expect(namesOf(second)).toEqual(["reader", "viewer"]);
    expect(second.pagination).toMatchObject({ offset: 2, next: null, search: "e", searchFields: ["accountInfo"] });
    expect(namesOf(await pageOf(second.pagination.prev))).toEqual(["admin", "creator"]);
    expect(namesOf(await pageOf(second.pagination.first))).toEqual(["admin", "creator"]);
    expect(namesOf(await pageOf(first.pagination.first))).toEqual(["admin", "creator"]);
    expect(namesOf(await pageOf(first.pagination.last))).toEqual(["reader", "viewer"]);
    expect(namesOf(await pageOf(second.pagination.self))).toEqual(["reader", "viewer"]);
  });

  test("can be paged with very long non-ASCII names", async () => {
    const own = await newSite();
    const names = ["각".repeat(200), `${"각".repeat(199)}나`];
    for (const name of names) await own.addAccount(name, []);
    const first = await list(own, { sortBy: "name", sortDirection: -1, limit: 1 });
    const following = Object.fromEntries(new URL(first.pagination.next ?? "", ORIGIN).searchParams);
    expect([...namesOf(first), ...namesOf(await list(own, following))]).toEqual(names.toReversed());
  });

  describe("are found", () => {
    let own: TestSite;
    let vera: TestAccount;
    let code: string;

    beforeAll(async () => {
      own = await newSite();
      vera = await own.addAccount("Véra Vista", []);
      const bought = await own.addAccount("Bo Buyer", []);
      const season = await newSubscription(own, "Whole season");
      await grant(own, vera.id, season.sku);
      for (const name of ["Élodie Été", "Zoe\u0308 Zander"]) await own.addAccount(name, []);
      const summer = await newSubscription(own, "Übertragung SOMMER");
      const [emil, ete] = [await own.addAccount("ÉMILE", []), await own.addAccount("Ed", [])];
      await grant(own, emil.id, summer.sku, { grantedMethod: "purchased", price: 900, presentmentCurrency: "gbp" });
      await grant(own, ete.id, "ÉTÉ-pass", { grantedMethod: "purchased", price: 900, presentmentCurrency: "gbp" });
      await grant(own, bought.id, "match-pass", { grantedMethod: "purchased", price: 900, presentmentCurrency: "gbp" });
      const lost = await own.addAccount("Lo Lost", []);
      await grant(own, lost.id, "cup-pass");
      await own.call("updateEntitlement", { query: { ...(await firstOf(own, lost.id)), action: "remove", grantRefund: false } });
      code = `SEARCH-${randomHex(4)}`;
      await addSkus(own, "code-pass");
      await own.call("addAccessCode", { query: { accessCode: code, siteId: own.id, sku: "code-pass", type: "subscription" } });
      await own.call("consumeAccessCode", { as: "viewer", params: { accessCode: code } });
      await db.insert(charges).values(chargeOf(own, bought.id, "R-2026-0017"));
      await db.insert(charges).values(chargeOf(other, other.accounts.viewer.id, "R-2026-0018"));
    });

    test.each([
      ["accountInfo", "vera", ["Véra Vista"]],
      ["accountInfo", "BUYER", ["Bo Buyer"]],
      ["accountInfo", "Élodie", ["Élodie Été"]],
      ["accountInfo", "élodie été", ["Élodie Été"]],
      ["accountInfo", "ÉMILE", ["ÉMILE"]],
      ["accountInfo", "émile", ["ÉMILE"]],
      ["accountInfo", "Zoë", ["Zoe\u0308 Zander"]],
      ["accountInfo", "Zoe\u0308", ["Zoe\u0308 Zander"]],
      ["accountInfo", "VIEWER@", ["viewer"]],
      ["accountInfo", "100%", []],
      ["entitlements", "whole SEASON", ["Véra Vista"]],
      ["entitlements", "match-pa", ["Bo Buyer"]],
      ["entitlements", "cup-pass", []],
      ["entitlements", "Übertragung sommer", ["ÉMILE"]],
      ["entitlements", "ÉTÉ-PASS", ["Ed"]],
      ["paidEntitlements", "Übertragung", ["ÉMILE"]],
      ["paidEntitlements", "ÉTÉ", ["Ed"]],
      ["paidEntitlements", "match-pass", ["Bo Buyer"]],
      ["paidEntitlements", "season", []],
      ["paidEntitlements", "", ["Ed", "ÉMILE", "Bo Buyer"]],
      ["receiptNumber", "r-2026-0017", ["Bo Buyer"]],
      ["receiptNumber", "R-2026-0018", []],
      ["receiptNumber", "R-2026", []],
    ])("by %s with %s", async (searchBy, searchQuery, names) => {
      expect(namesOf(await list(own, { searchBy, searchQuery }))).toEqual(names);
    });

    test("by a redeemed access code, regardless of case", async () => {
      expect(namesOf(await list(own, { searchBy: "accessCode", searchQuery: code.toLowerCase() }))).toEqual(["viewer"]);
      expect(namesOf(await list(own, { searchBy: "accessCode", searchQuery: code.slice(0, -1) }))).toEqual([]);
    });

    test("only by a known searchBy", async () => {
      expect((await own.call("listMembers", { query: { ...PAGE, searchBy: "shoeSize" } })).fields).toEqual(["searchBy"]);
    });

    test("by when they joined", async () => {
      const joined = 1_700_000_000_000;
      await db.update(accounts).set({ created: joined }).where(eq(accounts.id, vera.id));
      const within = (timeStart: number, timeEnd: number) => list(own, { filter: JSON.stringify({ timeStart, timeEnd }) });
      expect(namesOf(await within(joined, joined + 1))).toEqual(["Véra Vista"]);
      expect(namesOf(await within(joined - 5, joined))).toEqual([]);
      const backwards = await own.call("listMembers", { query: { ...PAGE, filter: JSON.stringify({ timeStart: 5, timeEnd: 5 }) } });
      expect(backwards.fields).toEqual(["filter.timeEnd"]);
    });
  });

  test("of a channel are those who hold a sku of its gate, the only ones that its admin sees", async () => {
    const own = await newSite();
    const [fan, passer] = [await own.addAccount("fan", []), await own.addAccount("passer-by", [])];
    await grant(own, fan.id, "vip");
    await grant(own, passer.id, "else");
    const gated = await own.addChannel(`gated-${randomHex(4)}`, { gate: { type: "entitlement", skus: ["gold", "vip"] } });
    const filter = JSON.stringify({ channelId: gated });
    expect(namesOf(await list(own, { filter }))).toEqual(["fan"]);
    expect(namesOf(await list(own, {}, "creator"))).toEqual([]);
    expect((await own.call("listMembers", { as: "creator", query: { ...PAGE, filter } })).status).toBe(403);
    const roles = [{ scope: "*" as const, pageId: [gated], write: false }];
    await db.update(accounts).set({ roles }).where(eq(accounts.id, own.accounts.creator.id));
    expect(namesOf(await list(own, {}, "creator"))).toEqual(["fan"]);
    expect(namesOf(await list(own, { filter }, "creator"))).toEqual(["fan"]);
  });
});

describe("a member", () => {
  test("has current and former entitlements, and the possible actions for each", async () => {
    const { id } = await site.addAccount(`held-${randomHex(4)}`, []);
    const season = await newSubscription(site, "Season");
    await grant(site, id, season.sku);
    await grant(site, id, "paid", { grantedMethod: "purchased", price: 900, presentmentCurrency: "gbp", dateEnds: Date.now() + 1e9 });
    const { entitlements, ...member } = await memberOf(site, id);
    expect(member.subscriptions.sort()).toEqual([season.sku, "paid"].sort());
    expect(entitlements).toMatchObject([
      { entitlement: "paid", name: null, price: 900, entitlementActions: { canCancel: true, canRefund: true, canRemove: false } },
      {
        entitlement: season.sku,
        name: "Season",
        wasRefunded: false,
        entitlementActions: { canCancel: true, canRefund: false, canRemove: true },
      },
    ]);
    expect((await site.call("getMember", { query: { accountId: newId(Date.now()) } })).status).toBe(404);
    expect((await site.call("getMember", { query: { accountId: other.accounts.viewer.id } })).status).toBe(404);
  });

  test("has current entitlements first, regardless of the number of former ones", async () => {
    const { id } = await site.addAccount(`long-${randomHex(4)}`, []);
    const kept = await grant(site, id, "for-good");
    const past = Array.from({ length: 205 }, (_, i) =>
      db
        .insert(accountEntitlements)
        .values({ ...kept, id: newId(kept.created + 1), sku: `past-${i}`, status: "cancelled", created: kept.created + 1 + i }),
    );
    await batchAll(db, past);
    const { entitlements } = await memberOf(site, id);
    expect(entitlements).toHaveLength(200);
    expect(entitlements.slice(0, 3).map((row) => row.entitlement)).toEqual(["for-good", "past-204", "past-203"]);
  });

  test("can be granted a subscription by an admin, once", async () => {
    const { id } = await site.addAccount(`granted-${randomHex(4)}`, []);
    const { _id: subscriptionId, sku } = await newSubscription(site, "Cup");
    for (let times = 0; times < 2; times++) {
      const response = await site.call("grantEntitlement", { query: { accountId: id, subscriptionId } });
      expect(response.as(Outcome)).toEqual({ success: true });
    }
    expect((await memberOf(site, id)).entitlements.map((row) => row.entitlement)).toEqual([sku]);
    const foreign = (await newSubscription(other, "Theirs"))._id;
    expect((await site.call("grantEntitlement", { query: { accountId: id, subscriptionId: foreign } })).status).toBe(404);
  });

  test.each([
    ["cancel", "entitlement_cancelled"],
    ["remove", "entitlement_revoked"],
  ])("loses an entitlement by %s once, with one event", async (action, event) => {
    const { id: accountId } = await site.addAccount(`${action}-${randomHex(4)}`, []);
    const { id } = await grant(site, accountId, "pass");
    const query = { accountId, id, action, grantRefund: false };
    const update = (operationId: string) => site.call(operationId, { query });
    const outcomes = await Promise.all([update("updateEntitlement"), update("patchEntitlement")]);
    const succeeded = outcomes.filter((response) => response.status === 200 && response.as(Outcome).success);
    expect(succeeded).toHaveLength(1);
    expect((await update("updateEntitlement")).as(Outcome)).toEqual({ success: false, message: "The entitlement is already cancelled" });
    expect(await eventsOf(`entitlement/${id}`)).toEqual(["entitlement_granted", event]);
    expect((await memberOf(site, accountId)).subscriptions).toEqual([]);
  });

  test.each([
    [{ action: "scheduleCancel", grantRefund: false }, "This entitlement isn't recurring, so there is no end of billing to wait for"],
    [{ action: "justRefund", grantRefund: true }, "Nothing was paid for this entitlement"],
    [{ action: "cancel", grantRefund: true }, "Nothing was paid for this entitlement"],
  ])("keeps an entitlement if %o isn't possible, and the response gives the reason", async (input, message) => {
    const { id: accountId } = await site.addAccount(`kept-${randomHex(4)}`, []);
    const { id } = await grant(site, accountId, "pass");
    const response = await site.call("updateEntitlement", { query: { accountId, id, ...input } });
    expect(response.as(Outcome)).toEqual({ success: false, message });
    expect((await memberOf(site, accountId)).subscriptions).toEqual(["pass"]);
  });

  test("can be updated by PATCH as well as by POST", async () => {
    const { id: accountId } = await site.addAccount(`patched-${randomHex(4)}`, []);
    const { id } = await grant(site, accountId, "pass");
    const query = { accountId, id, action: "cancel", grantRefund: false };
    expect((await site.call("patchEntitlement", { query })).as(Outcome)).toEqual({ success: true });
    expect((await memberOf(site, accountId)).subscriptions).toEqual([]);
  });

  test("can't be refunded more than was paid", async () => {
    const { id: accountId } = await site.addAccount(`paid-${randomHex(4)}`, []);
    const { id } = await grant(site, accountId, "pass", { grantedMethod: "purchased", price: 900, source: `charge/${newId(1)}` });
    const query = { accountId, id, action: "justRefund", grantRefund: true, refundAmount: 901 };
    const response = await site.call("updateEntitlement", { query });
    expect(response.as(Outcome)).toEqual({ success: false, message: "At most 900 can be refunded" });
    expect((await site.call("updateEntitlement", { query: { ...query, refundAmount: 0 } })).fields).toEqual(["refundAmount"]);
  });

  test("can't be updated with an entitlement id of another member or site", async () => {
    const { id } = await grant(site, site.accounts.viewer.id, `pass-${randomHex(4)}`);
    const input = { id, action: "remove", grantRefund: false };
    const responses = [
      await site.call("updateEntitlement", { query: { ...input, accountId: site.accounts.reader.id } }),
      await other.call("updateEntitlement", { query: { ...input, accountId: site.accounts.viewer.id } }),
    ];
    expect(responses.map((response) => response.status)).toEqual([404, 404]);
    const [row] = await db.select().from(accountEntitlements).where(eq(accountEntitlements.id, id));
    expect(row?.status).toBe("active");
  });
});

describe("an export", () => {
  test("is created by the queue and downloaded through its link", async () => {
    const { exportId } = (await site.call("exportMembers")).as(Export);
    const stateOf = async () => (await site.call("getExport", { params: { exportId } })).as(ExportState);
    await vi.waitUntil(async () => (await stateOf()).status === "complete", { interval: 20 });
    const token = (await stateOf()).downloadUrl?.split("/").at(-1) ?? "";
    const file = await site.call("downloadExport", { as: "nobody", params: { token } });
    expect(file.status).toBe(200);
    expect(file.text.split("\n")[0]).toContain("email");
    expect(file.text).toContain(site.accounts.viewer.email);
  });

  test("can't be downloaded any more by an admin who has lost the role", async () => {
    const own = await newSite();
    const leaver = await own.addAccount("leaver", [{ scope: "*", pageId: [], write: true }]);
    const headers = { Authorization: `Bearer ${await own.signIn(leaver)}` };
    const { exportId } = (await own.call("exportMembers")).as(Export);
    const stateOf = async () => (await own.call("getExport", { as: "client", headers, params: { exportId } })).as(ExportState);
    await vi.waitUntil(async () => (await stateOf()).status === "complete", { interval: 20 });
    const token = (await stateOf()).downloadUrl?.split("/").at(-1) ?? "";
    const download = () => own.call("downloadExport", { as: "nobody", params: { token } });
    expect((await download()).status).toBe(200);
    await own.call("setRoles", { params: { id: leaver.id }, body: { roles: [] } });
    expect((await download()).status).toBe(404);
  });
});

async function memberOf(of: TestSite, accountId: string) {
  return (await of.call("getMember", { query: { accountId } })).as(MemberDetails);
}

async function firstOf(of: TestSite, accountId: string) {
  return { accountId, id: (await memberOf(of, accountId)).entitlements[0]?._id ?? "" };
}

async function eventsOf(resource: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource === resource).map((event) => event.type);
}

function chargeOf({ id: siteId }: TestSite, accountId: string, receiptNumber: string): typeof charges.$inferInsert {
  return {
    id: newId(Date.now()),
    siteId,
    accountId,
    receiptNumber,
    amount: 900,
    currency: "gbp",
    itemType: "subscription",
    itemId: newId(1),
    description: "Match pass",
    skus: ["match-pass"],
    status: "complete",
    created: Date.now(),
    modified: Date.now(),
  };
}
