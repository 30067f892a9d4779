import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import {
  callAs,
  chargeRow,
  chargesOf,
  entitlementsOf,
  heldSkus,
  newBuyer,
  newMonthlyPurchase,
  newSubscription,
  openCheckout,
  reconcile,
  recurringRow,
  stripeSubscription,
  sendStripeEvent,
  sendSubscriptionEvent,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { expireEntitlements } from "#worker/services/subscriptions/entitlement-expiry.ts";
import { cancelRecurring, syncRecurring } from "./recurring.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

/** Runs the cron's billing work at a given time. */
async function cron(now: number): Promise<void> {
  await expireEntitlements({ env, db, shard: 1, now });
  await reconcile(now);
}

/** A monthly subscription that is cancelled at the end of its period. */
async function endingMonthly() {
  const purchase = await newMonthlyPurchase(site);
  const options = { params: purchase.params, body: { refund: false, scheduled: "endOfBilling" } };
  expect((await callAs(site, purchase.buyer, "cancelRecurringSubscription", options)).body).toEqual({ success: true });
  return {
    ...purchase,
    ends: purchase.recurring.currentPeriodEnd ?? 0,
    theirs: stripeSubscription(purchase.recurring.stripeSubscriptionId),
  };
}

describe("a subscription that is cancelled at the end of its period", () => {
  test("is still held if the cancellation was withdrawn without an event", async () => {
    const { buyer, sku, ends, theirs, recurring } = await endingMonthly();
    theirs.scheduled = false;
    await cron(ends);
    expect(await heldSkus(buyer)).toEqual([sku]);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(recurring.stripeSubscriptionId);
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    expect(await chargesOf(buyer)).toMatchObject([{}, { status: "complete", refunded: 0 }]);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "active", dateEnds: ends + 30 * DAY }]);
  });

  test("ends once Stripe confirms it, and not while Stripe is unreachable", async () => {
    const { buyer, sku, ends, theirs } = await endingMonthly();
    stripe.behaveNext(new RegExp(`GET .*${theirs.id}`), "fail");
    await cron(ends).catch(() => undefined);
    expect(await heldSkus(buyer)).toEqual([sku]);
    await cron(ends + 6 * MINUTE);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", dateCancelled: ends + 6 * MINUTE }]);
    await cron(ends + 8 * MINUTE);
    expect(theirs.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false, due: null });
  });

  test("is not charged again if it was revoked and then the cancellation is withdrawn", async () => {
    const { buyer, sku, theirs, recurring } = await endingMonthly();
    const revoked = await site.call("revokeSubscription", { as: "admin", query: { accountId: buyer.id, sku } });
    expect(revoked.status).toBe(200);
    theirs.scheduled = false;
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    await cron(Date.now() + 2 * MINUTE);
    expect(theirs.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false });
  });
});

test("a cancellation changes nothing on a deployment without Stripe keys", async () => {
  const { buyer, recurring } = await newMonthlyPurchase(site);
  const ctx = { ...interruptedContext(site, () => Promise.resolve()), env: { ...env, TIFO_STRIPE_KEY: "" } };
  const cancellation = cancelRecurring(ctx, { source: `recurring/${recurring.id}`, when: "immediate" });
  await expect(cancellation).rejects.toMatchObject({ code: "billing_not_configured" });
  expect(await recurringRow(buyer)).toEqual(recurring);
});

test("a subscription whose delayed first payment fails is cancelled, and its charge declined", async () => {
  const buyer = await newBuyer(site);
  const { _id: id } = await newSubscription(site, { recurrence: "month" });
  const { chargeId } = await openCheckout(site, buyer, id);
  const theirs = stripeSubscription(stripe.pay(chargeId, { later: true }).subscription ?? "");
  theirs.status = "unpaid";
  await sendStripeEvent(site, "checkout.session.async_payment_failed", { object: "checkout.session", metadata: { chargeId } });
  expect(await chargeRow(chargeId)).toMatchObject({ status: "declined", failure: "The payment failed" });
  expect(theirs.status).toBe("canceled");
  expect((await openCheckout(site, buyer, id)).chargeId).not.toBe(chargeId);
});

describe("a subscription that Stripe ends on a set date", () => {
  test("ends on that date if it is within the paid period", async () => {
    const { buyer, recurring, sku } = await newMonthlyPurchase(site);
    const theirs = stripeSubscription(recurring.stripeSubscriptionId);
    theirs.cancelAt = theirs.periodEnd - 10 * 86_400;
    await sendSubscriptionEvent(site, theirs.id);
    const dateEnds = theirs.cancelAt * 1000;
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelScheduled" });
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelScheduled", dateEnds }]);
    await cron(dateEnds - MINUTE);
    expect(await heldSkus(buyer)).toEqual([sku]);
    await cron(dateEnds);
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("stays active for the periods before that date", async () => {
    const { buyer, recurring, sku } = await newMonthlyPurchase(site);
    const theirs = stripeSubscription(recurring.stripeSubscriptionId);
    theirs.cancelAt = theirs.periodEnd + 40 * 86_400;
    await sendSubscriptionEvent(site, theirs.id);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(theirs.id);
    await sendSubscriptionEvent(site, theirs.id);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(theirs.id);
    await sendSubscriptionEvent(site, theirs.id);
    expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: "cancelScheduled", dateEnds: theirs.cancelAt * 1000 }]);
  });
});

test("a stale response from Stripe doesn't overwrite a newer one", async () => {
  const { buyer, recurring, sku } = await newMonthlyPurchase(site);
  await reconcile();
  const theirs = stripeSubscription(recurring.stripeSubscriptionId);
  theirs.scheduled = true;
  let newer: Promise<unknown> | undefined;
  const ctx = interruptedContext(site, () => {
    theirs.scheduled = false;
    return (newer ??= sendSubscriptionEvent(site, theirs.id));
  });
  await syncRecurring(ctx, await recurringRow(buyer));
  expect(newer).toBeDefined();
  expect(await recurringRow(buyer)).toMatchObject({ status: "active", dateCancelled: null });
  expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: "active" }]);
});

test("a period paid with credit renews the entitlement without moving money", async () => {
  const { buyer, recurring, sku } = await newMonthlyPurchase(site);
  await reconcile();
  const invoice = stripe.renew(recurring.stripeSubscriptionId);
  Object.assign(invoice, { amount: 0, intent: "" });
  for (let times = 0; times < 2; times++) await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
  await reconcile(Date.now() + MINUTE);
  const dateEnds = (recurring.currentPeriodEnd ?? 0) + 30 * DAY;
  expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: "active", dateEnds, price: 0 }]);
  expect(await chargesOf(buyer)).toMatchObject([{ amount: 1900 }, { amount: 0, status: "complete", stripePaymentId: null, due: null }]);
  expect(await recurringRow(buyer)).toMatchObject({ amount: 1900 });
});
