import { eq } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import {
  callAs,
  chargeRow,
  chargesOf,
  entitlementsOf,
  heldSkus,
  newBundle,
  newMonthlyPurchase,
  newPurchase,
  PAGES,
  reconcile,
  refund,
  refundRows,
  stripeSubscription,
  sendStripeEvent,
  sendRefundEvent,
  sendSubscriptionEvent,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { CheckoutAnswer } from "./schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { syncRefunds } from "./refunds.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

async function eventTypes(resource: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource === resource).map(({ type }) => type);
}

describe("a period that is paid after the entitlement has ended", () => {
  test("is refunded, even if the first period was refunded before", async () => {
    const { buyer, chargeId, recurring } = await newMonthlyPurchase(site);
    await refund(site, buyer, chargeId);
    stripe.behaveNext(new RegExp(`DELETE .*${recurring.stripeSubscriptionId}`), "fail");
    await reconcile().catch(() => undefined);
    stripe.renew(recurring.stripeSubscriptionId);
    for (const minutes of [6, 8, 12]) await reconcile(Date.now() + minutes * MINUTE);
    expect(await chargesOf(buyer)).toMatchObject([{ refunded: 1900 }, { amount: 1900, refunded: 1900, due: null }]);
    expect(stripeSubscription(recurring.stripeSubscriptionId).status).toBe("canceled");
  });

  test("is refunded, even if the buyer's account was deleted", async () => {
    const { buyer, recurring } = await newMonthlyPurchase(site);
    await site.call("deleteAccount", { as: "admin", params: { id: buyer.id } });
    await vi.waitUntil(async () => (await heldSkus(buyer)).length === 0);
    stripe.renew(recurring.stripeSubscriptionId);
    for (const minutes of [1, 3]) await reconcile(Date.now() + minutes * MINUTE);
    expect(await chargesOf(buyer)).toMatchObject([{ refunded: 0 }, { refunded: 1900 }]);
    // The entitlement has its price from the first period.
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", price: 1900, refunded: 0 }]);
  });

  test("isn't refunded if the entitlement was held when it was paid", async () => {
    const { buyer, recurring } = await newMonthlyPurchase(site);
    const { created } = stripe.renew(recurring.stripeSubscriptionId);
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    stripeSubscription(recurring.stripeSubscriptionId).status = "canceled";
    await reconcile(created * 1000 + 31 * DAY);
    await reconcile(created * 1000 + 31 * DAY + MINUTE);
    expect(await heldSkus(buyer)).toEqual([]);
    expect((await chargesOf(buyer)).map(({ refunded }) => refunded)).toEqual([0, 0]);
  });
});

test("a payment that bought nothing is refunded, with increasing retry intervals, until Stripe accepts", async () => {
  const { buyer, subscription } = await newPurchase(site);
  const bundle = await newBundle(site, { items: [{ type: "ticket", id: subscription.sku }], sku: `${subscription.sku}-x` });
  const { chargeId } = (await callAs(site, buyer, "checkoutBundle", { params: { id: bundle.id }, body: PAGES })).as(CheckoutAnswer);
  await site.call("grantSubscription", { as: "admin", body: { accountId: buyer.id, sku: subscription.sku } });
  const same = await site.call("createSubscription", {
    body: { siteId: site.id, name: "The same", sku: bundle.sku, subscriptionProvider: "external" },
  });
  expect(same.status).toBe(201);
  await site.call("grantSubscription", { as: "admin", body: { accountId: buyer.id, sku: bundle.sku } });
  stripe.pay(chargeId);
  await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
  const waits: number[] = [];
  for (let times = 0; times < 8; times++) {
    stripe.behaveNext(/POST .*refunds/, "reject");
    const { due, created } = await chargeRow(chargeId);
    if (due === null) throw new Error("No further check is due");
    waits.push(due - created);
    await reconcile(due);
  }
  // At least doubled within four attempts.
  expect((waits.at(-1) ?? 0) > 2 * (waits.at(-5) ?? 0)).toBe(true);
  expect((await chargeRow(chargeId)).refunded).toBe(0);
  stripe.recover();
  await reconcile((await chargeRow(chargeId)).due ?? 0);
  await reconcile((await chargeRow(chargeId)).due ?? Infinity);
  expect(await chargeRow(chargeId)).toMatchObject({ refunded: 2900, due: null });
});

describe("a refund that fails after it has succeeded", () => {
  test("resets the refunded amount; the entitlement stays cancelled and the charge can be refunded again", async () => {
    const { buyer, chargeId } = await newPurchase(site);
    await refund(site, buyer, chargeId);
    const [before] = await entitlementsOf(buyer);
    expect(before).toMatchObject({ status: "cancelled", refunded: 1900 });
    const [row] = await refundRows(chargeId);
    stripe.settleRefund(row?.stripeRefundId ?? "", "failed");
    await sendRefundEvent(site, chargeId);
    expect(await chargeRow(chargeId)).toMatchObject({ refunded: 0, reserved: 0 });
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", refunded: 0, dateRefunded: null }]);
    expect(await refund(site, buyer, chargeId)).toMatchObject({ success: true, amount: 1900 });
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", refunded: 1900 }]);
    expect(await eventTypes(`entitlement/${before?.id}`)).toEqual([
      "entitlement_purchased",
      "entitlement_refunded",
      "entitlement_refunded",
      "entitlement_refunded",
    ]);
  });

  test("of a part keeps the entitlement, with the remaining refunded amount", async () => {
    const { buyer, chargeId, subscription } = await newPurchase(site);
    for (const amount of [500, 300]) await refund(site, buyer, chargeId, amount);
    const failed = (await refundRows(chargeId)).find(({ amount }) => amount === 500);
    stripe.settleRefund(failed?.stripeRefundId ?? "", "failed");
    await sendRefundEvent(site, chargeId);
    expect(await entitlementsOf(buyer)).toMatchObject([{ sku: subscription.sku, status: "active", refunded: 300 }]);
  });

  test("of an earlier period doesn't affect the current one", async () => {
    const { buyer, chargeId, recurring } = await newMonthlyPurchase(site);
    await refund(site, buyer, chargeId, 500);
    stripe.renew(recurring.stripeSubscriptionId);
    await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
    const [, second] = await chargesOf(buyer);
    await refund(site, buyer, second?.id ?? "", 700);
    const [row] = await refundRows(chargeId);
    stripe.settleRefund(row?.stripeRefundId ?? "", "failed");
    await sendRefundEvent(site, chargeId);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "active", refunded: 700 }]);
  });
});

test("a full refund of a period doesn't affect the next period recorded at the same time", async () => {
  const { buyer, sku, chargeId, recurring } = await newMonthlyPurchase(site);
  stripe.behaveNext(/POST .*refunds/, "failLate");
  await refund(site, buyer, chargeId);
  stripe.renew(recurring.stripeSubscriptionId);
  let queries = 0;
  // First the refund is settled; then, before the entitlement is updated, the next period is recorded.
  const ctx = interruptedContext(site, async () => {
    if (++queries === 2) await sendSubscriptionEvent(site, recurring.stripeSubscriptionId);
  });
  await syncRefunds(ctx, await chargeRow(chargeId));
  expect(queries).toBeGreaterThan(1);
  expect(await chargesOf(buyer)).toMatchObject([{ refunded: 1900 }, { refunded: 0 }]);
  expect(await heldSkus(buyer)).toEqual([sku]);
  const [row] = await db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.id, recurring.id));
  expect(row).toMatchObject({ status: "active", stopping: false });
});
