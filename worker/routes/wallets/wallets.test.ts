import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import {
  backdate,
  type Buyer,
  callAs,
  chargesOf,
  entitlementsOf,
  heldSkus,
  newBuyer,
  newMonthlyPurchase,
  newSubscription,
  openCheckout,
  reconcile,
  recurringRow,
  refund,
  sendStripeEvent,
  sendSubscriptionEvent,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { newId } from "#worker/lib/ids.ts";
import { expireEntitlements } from "#worker/services/subscriptions/entitlement-expiry.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { CancelledRecurring, RecurringList, RecurringSubscription, Wallet } from "#worker/services/wallets/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let site: TestSite;
let buyer: Buyer;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

/** An account with a monthly subscription. */
async function monthly() {
  const monthly = await newMonthlyPurchase(site);
  ({ buyer } = monthly);
  return monthly;
}

async function cancel(params: Record<string, string>, body: Record<string, unknown>, as?: "admin") {
  const options = { params, body };
  const response = await (as
    ? site.call("cancelRecurringSubscription", { ...options, as })
    : callAs(site, buyer, "cancelRecurringSubscription", options));
  return response.as(CancelledRecurring);
}

describe("a wallet", () => {
  test("belongs to the caller and is created once", async () => {
    buyer = await newBuyer(site);
    const responses = await Promise.all([1, 2, 3].map(() => callAs(site, buyer, "getWallet")));
    const wallets = responses.map((response) => response.as(Wallet));
    expect(new Set(wallets.map(({ _id }) => _id)).size).toBe(1);
    expect(wallets[0]).toMatchObject({ ownerId: buyer.id, ownerType: "account", balance: 0, paymentCustomerId: null, siteId: site.id });
  });

  test("has the Stripe customer after a purchase", async () => {
    await monthly();
    expect((await callAs(site, buyer, "getWallet")).as(Wallet).paymentCustomerId).toMatch(/^cus_/);
    const { _id: id, paymentCustomerId } = (await callAs(site, buyer, "getWallet")).as(Wallet);
    const { results } = (await site.call("listEvents", { query: { limit: 200, types: "wallet.created,wallet.updated" } })).as(EventList);
    const ofWallet = results.filter(({ resource }) => resource === `wallet/${id}`);
    expect(ofWallet.map(({ type }) => type)).toEqual(["wallet.created", "wallet.updated"]);
    expect(ofWallet.at(-1)?.data).toMatchObject({ paymentCustomerId });
  });

  test("can be inserted by the operator for an account or the site, with its balance", async () => {
    const { id: ownerId } = await newBuyer(site);
    const account = { siteId: site.id, ownerId, ownerType: "account", balance: 500, paymentCustomerId: "cus_before" };
    expect(await site.call("insertWallet", { body: account })).toMatchObject({
      status: 201,
      body: { balance: 500, paymentCustomerId: "cus_before" },
    });
    const other = await newSite();
    const ofSite = { siteId: other.id, ownerId: other.id, ownerType: "site" };
    expect((await site.call("insertWallet", { body: ofSite })).status).toBe(201);
  });

  test.each([
    ["already has one", () => site.id, "site", "Failed to insert the wallet: the owner already has one"],
    ["is an unknown site", () => newId(Date.now()), "site", "Failed to insert the wallet: no such site"],
    ["is an unknown account", () => newId(Date.now()), "account", "Failed to insert the wallet: no such account"],
  ] as const)("is not inserted for an owner that %s", async (_, ownerId, ownerType, message) => {
    const body = { siteId: site.id, ownerId: ownerId(), ownerType };
    if (message.endsWith("already has one")) await site.call("insertWallet", { body });
    expect(await site.call("insertWallet", { body })).toMatchObject({ status: 200, body: { success: false, message } });
  });
});

describe("a recurring subscription", () => {
  test("can be read by its owner and by admins; others get a 401", async () => {
    const { params, sku, recurring } = await monthly();
    const { walletId } = params;
    const own = (await callAs(site, buyer, "listRecurringSubscriptions", { params: { walletId } })).as(RecurringList);
    expect(own).toMatchObject([
      { status: "active", amount: 1900, currency: "gbp", recurrence: "month", skus: [sku], pastDue: false, itemId: recurring.itemId },
    ]);
    const one = await site.call("getRecurringSubscription", { as: "reader", params });
    expect(one.as(RecurringSubscription)).toEqual(own[0]);
    const stranger = await newBuyer(site);
    for (const operation of ["listRecurringSubscriptions", "getRecurringSubscription"]) {
      expect((await callAs(site, stranger, operation, { params })).status).toBe(401);
    }
    const body = { refund: false, scheduled: "immediate" };
    expect((await callAs(site, stranger, "cancelRecurringSubscription", { params, body })).status).toBe(401);
    expect((await site.call("cancelRecurringSubscription", { as: "reader", params, body })).status).toBe(401);
  });

  test("has one charge per period, and each extends the entitlement", async () => {
    const { recurring } = await monthly();
    const [before] = await entitlementsOf(buyer);
    const invoice = stripe.renew(recurring.stripeSubscriptionId);
    const object = {
      id: invoice.id,
      object: "invoice",
      parent: { subscription_details: { subscription: recurring.stripeSubscriptionId } },
    };
    await Promise.all([sendStripeEvent(site, "invoice.paid", object), sendStripeEvent(site, "invoice.paid", object)]);
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    const charges = await chargesOf(buyer);
    expect(charges).toMatchObject([{ status: "complete" }, { status: "complete", stripeInvoiceId: invoice.id, recurringId: recurring.id }]);
    expect(new Set(charges.map(({ receiptNumber }) => receiptNumber)).size).toBe(2);
    const [after] = await entitlementsOf(buyer);
    expect(after?.dateEnds).toBe((before?.dateEnds ?? 0) + 30 * 86_400_000);
  });

  test("is found to be paid or ended by the cron if no event ever arrives", async () => {
    const { recurring, sku } = await monthly();
    await reconcile();
    const [before] = await entitlementsOf(buyer);
    const firstEnd = recurring.currentPeriodEnd ?? 0;
    const invoice = stripe.renew(recurring.stripeSubscriptionId);
    await reconcile(firstEnd - HOUR);
    expect(await chargesOf(buyer)).toHaveLength(1);
    await reconcile(firstEnd + 4 * HOUR);
    expect(await chargesOf(buyer)).toMatchObject([{}, { status: "complete", stripeInvoiceId: invoice.id }]);
    expect((await entitlementsOf(buyer))[0]?.dateEnds).toBe((before?.dateEnds ?? 0) + 30 * DAY);
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (there) there.status = "canceled";
    expect(await heldSkus(buyer)).toEqual([sku]);
    await reconcile(firstEnd + 31 * DAY);
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", due: null });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("is checked again if its period has started before it is paid", async () => {
    const { recurring } = await monthly();
    await reconcile();
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (there) there.periodEnd += 30 * 86_400;
    for (let times = 0; times < 2; times++) {
      await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    }
    if (there) there.periodEnd -= 30 * 86_400;
    stripe.renew(recurring.stripeSubscriptionId);
    await reconcile(Date.now() + 4 * HOUR);
    expect(await chargesOf(buyer)).toHaveLength(2);
  });

  test.each(["late", "to end"])("is checked daily while it is %s", async (state) => {
    const { recurring } = await monthly();
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (there && state === "late") there.status = "past_due";
    if (there && state === "to end") there.scheduled = true;
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    if (there) Object.assign(there, { status: "active", scheduled: false });
    await reconcile(Date.now() + DAY + HOUR);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active", pastDue: false, dateCancelled: null });
  });

  test("is cancelled at Stripe too if Stripe marks it as unpaid", async () => {
    const { recurring } = await monthly();
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (there) there.status = "unpaid";
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: true });
    expect(await heldSkus(buyer)).toEqual([]);
    await reconcile(Date.now() + 5 * MINUTE);
    expect(there?.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false, due: null });
  });

  test("for two periods at once is refunded for the later one, which sets its price", async () => {
    const { recurring, params } = await monthly();
    await backdate(buyer, 70 * DAY);
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    const earlier = stripe.renew(recurring.stripeSubscriptionId);
    if (there) there.amount = 2100;
    const later = stripe.renew(recurring.stripeSubscriptionId);
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    expect(await entitlementsOf(buyer)).toMatchObject([{ price: 2100, dateEnds: (there?.periodEnd ?? 0) * 1000 }]);
    expect((await recurringRow(buyer)).amount).toBe(2100);
    const booked = await chargesOf(buyer);
    expect(booked.slice(1)).toMatchObject([
      { stripeInvoiceId: earlier.id, created: earlier.created * 1000 },
      { stripeInvoiceId: later.id, created: later.created * 1000 },
    ]);
    await cancel(params, { refund: true, scheduled: "immediate" }, "admin");
    expect((await chargesOf(buyer)).map(({ refunded }) => refunded)).toEqual([0, 0, 2100]);
  });

  test("stays held while a payment is late, but not after Stripe has ended it", async () => {
    const { recurring, sku } = await monthly();
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (there) there.status = "past_due";
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active", pastDue: true });
    expect(await heldSkus(buyer)).toEqual([sku]);
    if (there) there.status = "canceled";
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId, "deleted");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", pastDue: false });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("is recorded even if its first event arrives before that of its checkout", async () => {
    buyer = await newBuyer(site);
    const { _id: id, sku } = await newSubscription(site, { recurrence: "year" });
    const { chargeId } = await openCheckout(site, buyer, id);
    const session = stripe.pay(chargeId);
    await sendSubscriptionEvent(site, session.subscription ?? "");
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    expect(await heldSkus(buyer)).toEqual([sku]);
    expect(await recurringRow(buyer)).toMatchObject({ recurrence: "year", stripeSubscriptionId: session.subscription });
  });
});

describe("a cancellation", () => {
  test.each(["immediate", false])("%s ends it and its entitlement immediately, also when repeated", async (scheduled) => {
    const { params, recurring } = await monthly();
    for (let times = 0; times < 2; times++) expect(await cancel(params, { refund: false, scheduled })).toEqual({ success: true });
    expect(stripe.records().subscriptions.get(recurring.stripeSubscriptionId)?.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled" });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test.each(["endOfBilling", true])("%s keeps the entitlement until the period ends", async (scheduled) => {
    const { params, recurring, sku } = await monthly();
    expect(await cancel(params, { refund: false, scheduled })).toEqual({ success: true });
    expect(stripe.records().subscriptions.get(recurring.stripeSubscriptionId)).toMatchObject({ status: "active", scheduled: true });
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelScheduled" });
    expect(await heldSkus(buyer)).toEqual([sku]);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelScheduled" }]);
  });

  test.each(["loseResponse", "failLate"] as const)("is recorded even if Stripe's behaviour is %s", async (behaviour) => {
    const { params, recurring } = await monthly();
    stripe.behaveNext(/DELETE .*subscriptions/, behaviour);
    const body = { refund: false, scheduled: "immediate" };
    const first = await callAs(site, buyer, "cancelRecurringSubscription", { params, body });
    // An unknown outcome is a 503; a retry completes it.
    if (first.status !== 200) expect(first.status).toBe(503);
    expect(await cancel(params, body)).toEqual({ success: true });
    expect(stripe.records().subscriptions.get(recurring.stripeSubscriptionId)?.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("with an unknown outcome is completed by the cron without a retry", async () => {
    for (const scheduled of ["immediate", "endOfBilling"]) {
      const { params } = await monthly();
      await reconcile();
      stripe.behaveNext(/(DELETE|POST) .*subscriptions/, "failLate");
      const response = await callAs(site, buyer, "cancelRecurringSubscription", { params, body: { refund: false, scheduled } });
      expect(response.status).toBe(503);
      await reconcile(Date.now() + 5 * MINUTE);
      expect((await recurringRow(buyer)).status).toBe(scheduled === "immediate" ? "cancelled" : "cancelScheduled");
    }
  });

  test("for later, right after a period has started, keeps the entitlement until that period ends", async () => {
    const { recurring, params, sku } = await monthly();
    const expire = (now: number) => expireEntitlements({ env, db, shard: 1, now });
    await reconcile();
    stripe.renew(recurring.stripeSubscriptionId);
    expect(await cancel(params, { refund: false, scheduled: "endOfBilling" })).toEqual({ success: true });
    for (const run of [expire, reconcile]) await run((recurring.currentPeriodEnd ?? 0) + HOUR);
    expect(await heldSkus(buyer)).toEqual([sku]);
    const end = (recurring.currentPeriodEnd ?? 0) + 30 * DAY;
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelScheduled", dateEnds: end }]);
    for (const run of [expire, reconcile]) await run(end);
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("records a paid period whose event was missed, and refunds it", async () => {
    const { recurring, params } = await monthly();
    await backdate(buyer, 35 * DAY);
    stripe.renew(recurring.stripeSubscriptionId);
    expect(await cancel(params, { refund: true, scheduled: "immediate" }, "admin")).toEqual({ success: true });
    expect((await chargesOf(buyer)).map(({ refunded }) => refunded)).toEqual([0, 1900]);
  });

  test("that Stripe rejects isn't a success and isn't retried", async () => {
    const { params, recurring } = await monthly();
    stripe.behaveNext(/DELETE .*subscriptions/, "reject");
    const rejected = await cancel(params, { refund: false, scheduled: "immediate" });
    expect(rejected).toEqual({ success: false, message: "This can't be done" });
    await reconcile(Date.now() + 5 * MINUTE);
    expect(stripe.records().subscriptions.get(recurring.stripeSubscriptionId)?.status).toBe("active");
    expect(await recurringRow(buyer)).toMatchObject({ status: "active", stopping: false });
  });

  test("of a subscription that has ended at Stripe before its event arrives is recorded", async () => {
    const { params, recurring } = await monthly();
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (there) there.status = "canceled";
    expect(await cancel(params, { refund: false, scheduled: "endOfBilling" })).toEqual({ success: true });
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled" });
  });

  test("with a refund refunds the current period, only for admins", async () => {
    const { params } = await monthly();
    const body = { refund: true, scheduled: "immediate" };
    expect((await callAs(site, buyer, "cancelRecurringSubscription", { params, body })).status).toBe(403);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    expect(await cancel(params, body, "admin")).toEqual({ success: true });
    expect(await chargesOf(buyer)).toMatchObject([{ refunded: 1900 }]);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", refunded: 1900 }]);
  });

  test("with a refund is completed by a retry, also if the outcome of the first is unknown", async () => {
    const { params } = await monthly();
    const body = { refund: true, scheduled: "immediate" };
    stripe.behaveNext(/POST .*refunds/, "failLate");
    expect((await cancel(params, body, "admin")).message).toContain("Not refunded yet");
    for (let times = 0; times < 2; times++) expect(await cancel(params, body, "admin")).toEqual({ success: true });
    expect(await chargesOf(buyer)).toMatchObject([{ refunded: 1900 }]);
  });

  test("with a refund at the end of billing keeps the entitlement until then", async () => {
    const { params, sku } = await monthly();
    expect(await cancel(params, { refund: true, scheduled: "endOfBilling" }, "admin")).toEqual({ success: true });
    expect(await chargesOf(buyer)).toMatchObject([{ refunded: 1900 }]);
    expect(await heldSkus(buyer)).toEqual([sku]);
  });

  test("of an unknown subscription isn't a success and has a message", async () => {
    const { params, recurring } = await monthly();
    const unknown = newId(Date.now());
    const body = { refund: false, scheduled: "immediate" };
    expect(await cancel({ ...params, subscriptionId: unknown }, body)).toEqual({
      success: false,
      message: `Subscription ${unknown} does not exists`,
    });
    const read = await callAs(site, buyer, "getRecurringSubscription", { params: { ...params, subscriptionId: unknown } });
    expect([read.status, read.body]).toMatchObject([404, { success: false, message: `Subscription ${unknown} does not exists` }]);
    stripe.records().subscriptions.delete(recurring.stripeSubscriptionId);
    expect(await cancel(params, body)).toEqual({ success: false, message: "Stripe Subscription not found" });
  });

  test("made directly at Stripe is applied, and so is its withdrawal", async () => {
    const { recurring, sku } = await monthly();
    const there = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    for (const scheduled of [true, false]) {
      if (there) there.scheduled = scheduled;
      await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
      expect(await entitlementsOf(buyer)).toMatchObject([{ sku, status: scheduled ? "cancelScheduled" : "active" }]);
    }
  });

  test("follows a full refund of the current period", async () => {
    const { chargeId, recurring } = await monthly();
    await refund(site, buyer, chargeId);
    expect(await recurringRow(buyer)).toMatchObject({ stopping: true });
    expect(await heldSkus(buyer)).toEqual([]);
    expect(stripe.records().subscriptions.get(recurring.stripeSubscriptionId)?.status).toBe("active");
  });

  test.each([
    ["refund", { scheduled: "immediate" }],
    ["refund", { refund: "yes", scheduled: "immediate" }],
    ["scheduled", { refund: false }],
    ["scheduled", { refund: false, scheduled: "tomorrow" }],
  ])("with an invalid %s is rejected", async (field, body) => {
    const params = { walletId: newId(Date.now()), subscriptionId: newId(Date.now()) };
    expect((await site.call("cancelRecurringSubscription", { as: "admin", params, body })).fields).toEqual([field]);
  });
});
