import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interrupted } from "#test/interrupted.ts";
import {
  callAs,
  chargeRow,
  chargesOf,
  entitlementsOf,
  held,
  newBuyer,
  newMonthly,
  newSubscription,
  open,
  reconcile,
  recurringRow,
  subscriptionThere,
  tell,
  tellSubscription,
} from "#test/shop.ts";
import { stripe } from "#test/stripe-server.ts";
import { expireEntitlements } from "#worker/services/subscriptions/entitlement-expiry.ts";
import { cancelRecurring, syncRecurring } from "./recurring.ts";

const db = createDb(env.DB);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

/** What the cron does for what is bought, at a moment. */
async function cron(now: number): Promise<void> {
  await expireEntitlements({ env, db, now });
  await reconcile(now);
}

/** Somebody who pays each month, until the end of this one. */
async function endingMonthly() {
  const made = await newMonthly(site);
  const options = { params: made.params, body: { refund: false, scheduled: "endOfBilling" } };
  expect((await callAs(site, made.buyer, "cancelRecurringSubscription", options)).body).toEqual({ success: true });
  return { ...made, ends: made.recurring.currentPeriodEnd ?? 0, there: subscriptionThere(made.recurring.stripeSubscriptionId) };
}

describe("what is to end with its period", () => {
  test("is still held after that where the cancellation was withdrawn unheard", async () => {
    const { buyer, sku, ends, there, recurring } = await endingMonthly();
    there.scheduled = false;
    await cron(ends);
    expect(await held(buyer)).toEqual([sku]);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(recurring.stripeSubscriptionId);
    await tellSubscription(site, recurring.stripeSubscriptionId);
    expect(await chargesOf(buyer)).toMatchObject([{}, { status: "complete", refunded: 0 }]);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "active", dateEnds: ends + 30 * DAY }]);
  });

  test("ends as soon as Stripe, asked at that moment, has it so; until it can be asked nothing is decided", async () => {
    const { buyer, sku, ends, there } = await endingMonthly();
    stripe.next(new RegExp(`GET .*${there.id}`), "fail");
    await cron(ends).catch(() => undefined);
    expect(await held(buyer)).toEqual([sku]);
    await cron(ends + 6 * MINUTE);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", dateCancelled: ends + 6 * MINUTE }]);
    await cron(ends + 8 * MINUTE);
    expect(there.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false, due: null });
  });

  test("is not paid for again where it was taken away before, though the cancellation is withdrawn", async () => {
    const { buyer, sku, there, recurring } = await endingMonthly();
    const revoked = await site.call("revokeSubscription", { as: "admin", query: { accountId: buyer.id, sku } });
    expect(revoked.status).toBe(200);
    there.scheduled = false;
    await tellSubscription(site, recurring.stripeSubscriptionId);
    await cron(Date.now() + 2 * MINUTE);
    expect(there.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false });
  });
});

test("a cancellation that a deployment without keys can't ask Stripe for leaves all as it was", async () => {
  const { buyer, recurring } = await newMonthly(site);
  const ctx = { ...interrupted(site, () => Promise.resolve()), env: { ...env, TIFO_STRIPE_KEY: "" } };
  const asked = cancelRecurring(ctx, { source: `recurring/${recurring.id}`, when: "immediate" });
  await expect(asked).rejects.toMatchObject({ code: "billing_not_configured" });
  expect(await recurringRow(buyer)).toEqual(recurring);
});

test("a subscription whose first payment, by means that take days, never comes is ended, and its charge declined", async () => {
  const buyer = await newBuyer(site);
  const { _id: id } = await newSubscription(site, { recurrence: "month" });
  const { chargeId } = await open(site, buyer, id);
  const there = subscriptionThere(stripe.pay(chargeId, { later: true }).subscription ?? "");
  there.status = "unpaid";
  await tell(site, "checkout.session.async_payment_failed", { object: "checkout.session", metadata: { chargeId } });
  expect(await chargeRow(chargeId)).toMatchObject({ status: "declined", failure: "The payment failed" });
  expect(there.status).toBe("canceled");
  expect((await open(site, buyer, id)).chargeId).not.toBe(chargeId);
});

describe("a day that Stripe ends a subscription on", () => {
  test("within the period that is paid for is when it ends here", async () => {
    const { buyer, recurring, sku } = await newMonthly(site);
    const there = subscriptionThere(recurring.stripeSubscriptionId);
    there.cancelAt = there.periodEnd - 10 * 86_400;
    await tellSubscription(site, there.id);
    const dateEnds = there.cancelAt * 1000;
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelScheduled" });
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelScheduled", dateEnds }]);
    await cron(dateEnds - MINUTE);
    expect(await held(buyer)).toEqual([sku]);
    await cron(dateEnds);
    expect(await held(buyer)).toEqual([]);
  });

  test("after further periods lets those be paid before", async () => {
    const { buyer, recurring, sku } = await newMonthly(site);
    const there = subscriptionThere(recurring.stripeSubscriptionId);
    there.cancelAt = there.periodEnd + 40 * 86_400;
    await tellSubscription(site, there.id);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(there.id);
    await tellSubscription(site, there.id);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(there.id);
    await tellSubscription(site, there.id);
    expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: "cancelScheduled", dateEnds: there.cancelAt * 1000 }]);
  });
});

test("an answer of Stripe's that is booked after a newer one does not undo that", async () => {
  const { buyer, recurring, sku } = await newMonthly(site);
  await reconcile();
  const there = subscriptionThere(recurring.stripeSubscriptionId);
  there.scheduled = true;
  let newer: Promise<unknown> | undefined;
  const ctx = interrupted(site, () => {
    there.scheduled = false;
    return (newer ??= tellSubscription(site, there.id));
  });
  await syncRecurring(ctx, await recurringRow(buyer));
  expect(newer).toBeDefined();
  expect(await recurringRow(buyer)).toMatchObject({ status: "active", dateCancelled: null });
  expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: "active" }]);
});

test("a period that a credit has paid is held like any other, and moves no money", async () => {
  const { buyer, recurring, sku } = await newMonthly(site);
  await reconcile();
  const invoice = stripe.renew(recurring.stripeSubscriptionId);
  Object.assign(invoice, { amount: 0, intent: "" });
  for (let times = 0; times < 2; times++) await tellSubscription(site, recurring.stripeSubscriptionId);
  await reconcile(Date.now() + MINUTE);
  const dateEnds = (recurring.currentPeriodEnd ?? 0) + 30 * DAY;
  expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: "active", dateEnds, price: 0 }]);
  expect(await chargesOf(buyer)).toMatchObject([{ amount: 1900 }, { amount: 0, status: "complete", stripePaymentId: null, due: null }]);
  expect(await recurringRow(buyer)).toMatchObject({ amount: 1900 });
});
