import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import {
  buy,
  type Buyer,
  chargeRow,
  entitlementsOf,
  heldSkus,
  newBuyer,
  newSubscription,
  reconcile,
  recurringRow,
  refund,
  refundRows,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { MemberDetails, MemberList, Outcome } from "#worker/services/community/schemas.ts";

let site: TestSite;
let buyer: Buyer;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

/** A new buyer who has bought a pass for 1900, once or monthly. */
async function bought(recurrence: "once" | "month") {
  buyer = await newBuyer(site);
  const { sku, _id } = await newSubscription(site, { recurrence });
  const chargeId = await buy(site, buyer, _id);
  const [row] = await entitlementsOf(buyer);
  if (!row) throw new Error("Nothing was granted");
  return { sku, chargeId, id: row.id };
}

async function update(id: string, input: Record<string, string | number | boolean>) {
  return (await site.call("updateEntitlement", { query: { accountId: buyer.id, id, ...input } })).as(Outcome);
}

async function shown(id: string) {
  const { entitlements } = (await site.call("getMember", { query: { accountId: buyer.id } })).as(MemberDetails);
  return entitlements.find((row) => row._id === id);
}

async function refundedOf(chargeId: string): Promise<number> {
  return (await chargeRow(chargeId)).refunded;
}

describe("a one-time purchase", () => {
  test("keeps its entitlement with justRefund", async () => {
    const { id, chargeId, sku } = await bought("once");
    expect(await shown(id)).toMatchObject({ price: 1900, entitlementActions: { canCancel: true, canRefund: true, canRemove: true } });
    expect(await update(id, { action: "justRefund", grantRefund: true, refundDetails: "Rained off" })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(1900);
    expect(await heldSkus(buyer)).toEqual([sku]);
    expect(await shown(id)).toMatchObject({ refunded: 1900, wasRefunded: true, entitlementActions: { canRefund: false } });
    const { results } = (await site.call("listEvents", { query: { limit: 200, types: "community.refundGranted" } })).as(EventList);
    expect(results.at(-1)?.data).toMatchObject({ entitlementId: id, amount: 1900, refundDetails: "Rained off" });
  });

  test("is refunded with a note that is erased from the log when the account is deleted", async () => {
    const { id } = await bought("once");
    await update(id, { action: "justRefund", grantRefund: true, refundDetails: "Her seat was wet" });
    const grants = async () => {
      const { results } = (await site.call("listEvents", { query: { limit: 200, types: "community.refundGranted" } })).as(EventList);
      return results.map(({ data }) => data);
    };
    expect(await grants()).toContainEqual(expect.objectContaining({ entitlementId: id, refundDetails: "Her seat was wet" }));
    await site.call("deleteAccount", { params: { id: buyer.id } });
    await vi.waitUntil(async () => !JSON.stringify(await grants()).includes("Her seat was wet"));
    expect(await grants()).toContainEqual({ erased: true });
  });

  test("is refunded in part once per Idempotency-Key, and again without one", async () => {
    const { id, chargeId } = await bought("once");
    const query = { accountId: buyer.id, id, action: "justRefund", grantRefund: true, refundAmount: 100 };
    const headers = { "Idempotency-Key": `refund-${id}` };
    for (let times = 0; times < 2; times++) await site.call("updateEntitlement", { query, headers });
    expect(await refundedOf(chargeId)).toBe(100);
    await update(id, { action: "justRefund", grantRefund: true, refundAmount: 100 });
    expect(await refundedOf(chargeId)).toBe(200);
  });

  test("can be refunded in part, but never more than was paid", async () => {
    const { id, chargeId } = await bought("once");
    expect(await update(id, { action: "justRefund", grantRefund: true, refundAmount: 1000 })).toEqual({ success: true });
    const tooMuch = await update(id, { action: "justRefund", grantRefund: true, refundAmount: 901 });
    expect(tooMuch).toEqual({ success: false, message: "At most 900 can be refunded" });
    expect(await update(id, { action: "justRefund", grantRefund: true })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(1900);
    expect(await refundRows(chargeId)).toHaveLength(2);
  });

  test.each(["cancel", "remove"])("is refunded with %s once, even if requested twice", async (action) => {
    const { id, chargeId } = await bought("once");
    const outcomes = [await update(id, { action, grantRefund: true }), await update(id, { action, grantRefund: true })];
    expect(outcomes).toEqual([{ success: true }, { success: false, message: "The entitlement is already cancelled" }]);
    expect(await heldSkus(buyer)).toEqual([]);
    expect(await refundedOf(chargeId)).toBe(1900);
    expect(await refundRows(chargeId)).toHaveLength(1);
  });

  test.each([400, undefined])("is refunded %s once, even if Stripe's first response was lost", async (refundAmount) => {
    const { id, chargeId } = await bought("once");
    const input = { action: "justRefund", grantRefund: true, ...(refundAmount !== undefined && { refundAmount }) };
    stripe.behaveNext(/POST .*refunds/, "failLate");
    expect((await update(id, input)).success).toBe(false);
    expect(await update(id, input)).toEqual({ success: true });
    const { refunded, stripePaymentId } = await chargeRow(chargeId);
    expect(refunded).toBe(refundAmount ?? 1900);
    expect(stripe.refundsOf(stripePaymentId ?? "")).toHaveLength(1);
  });

  test("is refunded when a call that crashed before the refund is repeated", async () => {
    for (const action of ["cancel", "remove"]) {
      const { id, chargeId } = await bought("once");
      await update(id, { action, grantRefund: false });
      expect(await update(id, { action, grantRefund: true })).toEqual({ success: true });
      expect(await refundedOf(chargeId)).toBe(1900);
      expect(await update(id, { action, grantRefund: true })).toMatchObject({ success: false });
    }
  });

  test.each(["cancel", "remove"])(
    "is partly refunded with %s once, even if the response was lost and the call is repeated",
    async (action) => {
      const { id, chargeId } = await bought("once");
      const input = { action, grantRefund: true, refundAmount: 100 };
      for (let times = 0; times < 2; times++) expect(await update(id, input)).toEqual({ success: true });
      expect(await refundedOf(chargeId)).toBe(100);
    },
  );

  test("is partly refunded by repeating a crashed call, even if the same amount was refunded before", async () => {
    const { id, chargeId } = await bought("once");
    await update(id, { action: "justRefund", grantRefund: true, refundAmount: 100 });
    await update(id, { action: "cancel", grantRefund: false });
    for (let times = 0; times < 2; times++) {
      expect(await update(id, { action: "cancel", grantRefund: true, refundAmount: 100 })).toEqual({ success: true });
    }
    expect(await refundedOf(chargeId)).toBe(200);
  });

  test("keeps its entitlement after justRefund of the rest, even if a part was refunded before", async () => {
    const { id, chargeId, sku } = await bought("once");
    await refund(site, buyer, chargeId, 500);
    expect(await update(id, { action: "justRefund", grantRefund: true })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(1900);
    expect(await heldSkus(buyer)).toEqual([sku]);
    await reconcile(Date.now() + 60_000);
    expect(await heldSkus(buyer)).toEqual([sku]);
  });

  test.each([
    ["grantRefund", { action: "justRefund", grantRefund: false }],
    ["refundAmount", { action: "cancel", grantRefund: false, refundAmount: 100 }],
    ["reason", { action: "cancel", grantRefund: false, reason: "duplicate" }],
    ["refundDetails", { action: "remove", grantRefund: false, refundDetails: "Rained off" }],
  ])("is unchanged if %s contradicts the other fields", async (field, input) => {
    const { id, chargeId, sku } = await bought("once");
    const response = await site.call("updateEntitlement", { query: { accountId: buyer.id, id, ...input } });
    expect([response.status, response.fields]).toEqual([400, [field]]);
    expect([await heldSkus(buyer), await refundedOf(chargeId)]).toEqual([[sku], 0]);
  });

  test("can be cancelled without a refund, and refunded later", async () => {
    const { id, chargeId } = await bought("once");
    expect(await update(id, { action: "cancel", grantRefund: false })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(0);
    expect(await shown(id)).toMatchObject({ entitlementActions: { canCancel: false, canRefund: true, canRemove: false } });
    expect(await update(id, { action: "justRefund", grantRefund: true })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(1900);
  });

  test("reports that Stripe rejected the refund, and can be refunded later", async () => {
    const { id, chargeId } = await bought("once");
    stripe.behaveNext(/refunds/, "reject");
    const rejected = await update(id, { action: "cancel", grantRefund: true });
    expect(rejected.success).toBe(false);
    expect(rejected.message).not.toBe("");
    expect(await refundedOf(chargeId)).toBe(0);
    expect(await update(id, { action: "justRefund", grantRefund: true })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(1900);
  });

  test("can be found by its receipt number", async () => {
    const { chargeId } = await bought("once");
    const { receiptNumber } = await chargeRow(chargeId);
    const query = { offset: 0, sortBy: "name", sortDirection: 1, searchBy: "receiptNumber", searchQuery: receiptNumber ?? "" };
    expect((await site.call("listMembers", { query })).as(MemberList).results.map((row) => row._id)).toEqual([buyer.id]);
  });
});

describe("a monthly purchase", () => {
  test("can't be removed while it is paid, nor scheduled for cancellation twice", async () => {
    const { id, sku } = await bought("month");
    expect((await update(id, { action: "remove", grantRefund: false })).success).toBe(false);
    expect(await update(id, { action: "scheduleCancel", grantRefund: false })).toEqual({ success: true });
    expect((await recurringRow(buyer)).status).toBe("cancelScheduled");
    expect(await heldSkus(buyer)).toEqual([sku]);
    expect((await shown(id))?.status).toBe("cancelScheduled");
    const again = await update(id, { action: "scheduleCancel", grantRefund: false });
    expect(again).toEqual({ success: false, message: "The cancellation is already scheduled" });
  });

  test("counts as refunded until the next period is paid", async () => {
    const { id } = await bought("month");
    await update(id, { action: "justRefund", grantRefund: true });
    expect(await shown(id)).toMatchObject({ refunded: 1900, wasRefunded: true });
    const { stripeSubscriptionId, currentPeriodEnd } = await recurringRow(buyer);
    stripe.renew(stripeSubscriptionId);
    await reconcile((currentPeriodEnd ?? 0) + 4 * 3_600_000);
    expect(await shown(id)).toMatchObject({ refunded: 0, wasRefunded: false, entitlementActions: { canRefund: true } });
  });

  test("is cancelled immediately, with its payments and a refund", async () => {
    const { id, chargeId } = await bought("month");
    expect(await update(id, { action: "cancel", grantRefund: true })).toEqual({ success: true });
    expect((await recurringRow(buyer)).status).toBe("cancelled");
    expect(await heldSkus(buyer)).toEqual([]);
    expect(await refundedOf(chargeId)).toBe(1900);
  });

  test("is cancelled and refunded by repeating a call for which Stripe's response was lost", async () => {
    const { id, chargeId } = await bought("month");
    const input = { accountId: buyer.id, id, action: "cancel", grantRefund: true };
    stripe.behaveNext(/DELETE .*subscriptions/, "failLate");
    expect((await site.call("updateEntitlement", { query: input })).status).toBe(503);
    await reconcile(Date.now() + 5 * 60_000);
    expect(await update(id, { action: "cancel", grantRefund: true })).toEqual({ success: true });
    expect((await recurringRow(buyer)).status).toBe("cancelled");
    expect(await refundedOf(chargeId)).toBe(1900);
  });

  test("is partly refunded with a scheduled cancellation once, even if requested twice", async () => {
    const { id, chargeId } = await bought("month");
    const input = { action: "scheduleCancel", grantRefund: true, refundAmount: 100 };
    for (let times = 0; times < 2; times++) expect(await update(id, input)).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(100);
  });

  test("is refunded by repeating a scheduled cancellation that crashed before the refund", async () => {
    const { id, chargeId, sku } = await bought("month");
    await update(id, { action: "scheduleCancel", grantRefund: false });
    expect(await update(id, { action: "scheduleCancel", grantRefund: true })).toEqual({ success: true });
    expect(await refundedOf(chargeId)).toBe(1900);
    expect(await heldSkus(buyer)).toEqual([sku]);
  });
});
