import { eq } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import {
  buy,
  type Buyer,
  chargeRow,
  chargesOf,
  entitlementsOf,
  heldSkus,
  newBuyer,
  newPurchase,
  newSubscription,
  openCheckout,
  reconcile,
  recurringRow,
  refund,
  refundRows,
  sendStripeEvent,
  sendRefundEvent,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;

let site: TestSite;
let buyer: Buyer;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

async function bought() {
  const purchase = await newPurchase(site);
  ({ buyer } = purchase);
  return purchase;
}

describe("a refund", () => {
  test("without an amount refunds everything and ends the entitlement", async () => {
    const { chargeId } = await bought();
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: true, errorMessage: null, status: "complete", amount: 1900 });
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 1900, reserved: 1900 });
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", refunded: 1900 }]);
  });

  test("of a part keeps the entitlement; another without an amount refunds the rest", async () => {
    const { chargeId, subscription } = await bought();
    expect(await refund(site, buyer, chargeId, 700)).toMatchObject({ success: true, amount: 700 });
    expect(await heldSkus(buyer)).toEqual([subscription.sku]);
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: true, amount: 1200 });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("of more than is left fails and moves no money", async () => {
    const { chargeId } = await bought();
    await refund(site, buyer, chargeId, 1000);
    expect(await refund(site, buyer, chargeId, 901)).toMatchObject({
      success: false,
      errorMessage: "Only 900 of 1900 can still be refunded",
    });
    await refund(site, buyer, chargeId);
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: false, errorMessage: "The charge is already fully refunded" });
    expect((await chargeRow(chargeId)).refunded).toBe(1900);
  });

  test("of an unpaid charge fails", async () => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: false, errorMessage: "The charge was not paid" });
  });

  test("never exceeds the charge, also in concurrent requests", async () => {
    const { chargeId } = await bought();
    const results = await Promise.all(Array.from({ length: 6 }, () => refund(site, buyer, chargeId, 600)));
    expect(results.filter(({ success }) => success)).toHaveLength(3);
    const { stripePaymentId, refunded } = await chargeRow(chargeId);
    expect(refunded).toBe(1800);
    expect(stripe.records().intents.get(stripePaymentId ?? "")?.refunded).toBe(1800);
  });

  test.each([
    ["amount 0", { amount: 0 }],
    ["an amount below 0", { amount: -1 }],
    ["half a penny", { amount: 0.5 }],
    ["no reason", { reason: undefined }],
    ["another reason", { reason: "because" }],
    ["no charge", { chargeId: undefined }],
    ["no account", { accountId: undefined }],
  ])("with %s is rejected with the documented message", async (_, change) => {
    const { chargeId } = await bought();
    const body = { accountId: buyer.id, chargeId, reason: "duplicate", ...change };
    const { status, problem } = await site.call("refundCharge", { as: "admin", body });
    expect(status).toBe(400);
    expect(problem?.message).toBe("Request body was not a valid RefundRequest or The amount refunded must be larger than 0.");
  });

  test("doesn't find a charge of another account or site", async () => {
    const { chargeId } = await bought();
    const stranger = await newBuyer(site);
    const body = { accountId: stranger.id, chargeId, reason: "duplicate" };
    expect((await site.call("refundCharge", { as: "admin", body })).status).toBe(404);
    const other = await newSite();
    expect((await other.call("refundCharge", { as: "admin", body: { ...body, accountId: buyer.id } })).status).toBe(404);
  });

  test("that Stripe rejects returns the reason and can be requested again", async () => {
    const { chargeId } = await bought();
    stripe.behaveNext(/POST .*refunds/, "reject");
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: false, errorMessage: "This can't be done", status: "declined" });
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: true, amount: 1900 });
  });

  test.each(["failLate", "hang"] as const)(
    "stays reserved if Stripe's behaviour is %s, and is settled by the cron",
    async (misbehaviour) => {
      const { chargeId } = await bought();
      stripe.behaveNext(/POST .*refunds/, misbehaviour, misbehaviour);
      const first = await refund(site, buyer, chargeId, 1500);
      expect(first).toMatchObject({ success: false, status: "pending" });
      expect(first.errorMessage).toContain("not confirmed");
      expect(await refund(site, buyer, chargeId, 500)).toMatchObject({ success: false });
      await db.update(charges).set({ due: 1 }).where(eq(charges.id, chargeId));
      await reconcile();
      expect(await chargeRow(chargeId)).toMatchObject({ refunded: 1500, reserved: 1500, due: null });
      expect(stripe.refundsOf((await chargeRow(chargeId)).stripePaymentId ?? "")).toHaveLength(1);
    },
  );

  test("that never reached Stripe is requested again, once", async () => {
    const { chargeId } = await bought();
    stripe.behaveNext(/POST .*refunds/, "fail");
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: false, status: "pending" });
    await db.update(charges).set({ due: 1 }).where(eq(charges.id, chargeId));
    // The first request may still be on its way.
    await reconcile();
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 0, reserved: 1900 });
    const later = Date.now() + 3 * MINUTE;
    await Promise.all([reconcile(later), reconcile(later)]);
    await reconcile(later + MINUTE);
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 1900, reserved: 1900, due: null });
    expect(await refundRows(chargeId)).toMatchObject([{ status: "complete" }]);
    expect(stripe.refundsOf((await chargeRow(chargeId)).stripePaymentId ?? "")).toHaveLength(1);
  });

  test("that Stripe rejects when it is requested again is declined", async () => {
    const { chargeId } = await bought();
    stripe.behaveNext(/POST .*refunds/, "fail");
    await refund(site, buyer, chargeId);
    await db.update(charges).set({ due: 1 }).where(eq(charges.id, chargeId));
    stripe.behaveNext(/POST .*refunds/, "reject");
    await reconcile(Date.now() + 3 * MINUTE);
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 0, reserved: 0, due: null });
    expect(await refundRows(chargeId)).toMatchObject([{ status: "declined", failure: "This can't be done" }]);
  });

  test("that is pending is settled by Stripe's event, whether it succeeds or fails", async () => {
    for (const outcome of ["succeeded", "failed"] as const) {
      const { chargeId, subscription } = await bought();
      stripe.refundsBecome = "pending";
      expect(await refund(site, buyer, chargeId)).toMatchObject({ success: true, status: "pending" });
      expect(await heldSkus(buyer)).toEqual([subscription.sku]);
      const [row] = await refundRows(chargeId);
      stripe.settleRefund(row?.stripeRefundId ?? "", outcome);
      await sendRefundEvent(site, chargeId);
      expect((await chargeRow(chargeId)).refunded).toBe(outcome === "succeeded" ? 1900 : 0);
      expect(await heldSkus(buyer)).toEqual(outcome === "succeeded" ? [] : [subscription.sku]);
    }
  });

  test("created at Stripe itself is recorded once, and ends the entitlement when nothing is left", async () => {
    const { chargeId, subscription } = await bought();
    const { stripePaymentId } = await chargeRow(chargeId);
    stripe.refundAtStripe(stripePaymentId ?? "", 400);
    await Promise.all([sendRefundEvent(site, chargeId), sendRefundEvent(site, chargeId)]);
    expect(await refundRows(chargeId)).toMatchObject([{ amount: 400, status: "complete" }]);
    expect(await heldSkus(buyer)).toEqual([subscription.sku]);
    stripe.refundAtStripe(stripePaymentId ?? "", 1500);
    await sendRefundEvent(site, chargeId);
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 1900, reserved: 1900 });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("created at Stripe itself is recorded once, however many events report it at once", async () => {
    const { chargeId } = await bought();
    stripe.refundAtStripe((await chargeRow(chargeId)).stripePaymentId ?? "", 1900);
    const answers = await Promise.all(Array.from({ length: 12 }, () => sendRefundEvent(site, chargeId)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await refundRows(chargeId)).toMatchObject([{ amount: 1900, status: "complete" }]);
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 1900, reserved: 1900 });
  });

  test("created at Stripe itself is not recorded while one of ours may still be in flight", async () => {
    const { chargeId } = await bought();
    stripe.behaveNext(/POST .*refunds/, "fail");
    await refund(site, buyer, chargeId);
    stripe.refundAtStripe((await chargeRow(chargeId)).stripePaymentId ?? "", 1000);
    expect((await sendRefundEvent(site, chargeId)).status).toBe(503);
    await reconcile(Date.now() + 11 * MINUTE);
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 1000, reserved: 1000, due: null });
  });

  test.each(["once", "month"])("created at Stripe before what was paid %s is recorded is recorded after it", async (recurrence) => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site, { recurrence }))._id);
    const { intent, invoice } = stripe.pay(chargeId);
    const paymentId = intent ?? stripe.records().invoices.get(invoice ?? "")?.intent ?? "";
    stripe.refundAtStripe(paymentId, 1900);
    const metadata = recurrence === "once" ? { chargeId } : {};
    await sendStripeEvent(site, "charge.refunded", { id: "ch_1", object: "charge", payment_intent: paymentId, metadata });
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    await reconcile(Date.now() + MINUTE);
    expect(await chargeRow(chargeId)).toMatchObject({ status: "complete", refunded: 1900, due: null });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("isn't checked for repeatedly if no money was moved", async () => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    stripe.pay(chargeId).intent = null;
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    expect(await chargeRow(chargeId)).toMatchObject({ status: "complete", stripePaymentId: null });
    await reconcile(Date.now() + MINUTE);
    expect((await chargeRow(chargeId)).due).toBeNull();
  });

  test("created at Stripe before a period is recorded is recorded after it", async () => {
    buyer = await newBuyer(site);
    await buy(site, buyer, (await newSubscription(site, { recurrence: "month" }))._id);
    const { stripeSubscriptionId } = await recurringRow(buyer);
    await reconcile(Date.now() + MINUTE);
    const { intent } = stripe.renew(stripeSubscriptionId);
    stripe.refundAtStripe(intent, 700);
    await sendStripeEvent(site, "charge.refunded", { id: "ch_1", object: "charge", payment_intent: intent, metadata: {} });
    await sendStripeEvent(site, "customer.subscription.updated", { id: stripeSubscriptionId, object: "subscription" });
    await reconcile(Date.now() + MINUTE);
    expect((await chargesOf(buyer)).map(({ refunded }) => refunded)).toEqual([0, 700]);
  });
});
