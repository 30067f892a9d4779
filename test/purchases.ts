import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { and, eq, lte, sql } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { charges, recurringSubscriptions, refunds } from "#db/schema/commerce/billing.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Bundle } from "#worker/services/bundles/schemas.ts";
import { ChargeResult, CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { Subscription } from "#worker/services/subscriptions/schemas.ts";
import { Wallet } from "#worker/services/wallets/schemas.ts";
import { reconcileBilling } from "#worker/services/billing/reconcile.ts";
import type { ApiResponse, CallOptions, TestAccount, TestSite } from "./harness.ts";
import { addSkus } from "./files-and-skus.ts";
import { showSubscription, type Subscription as StripeSubscription } from "./stripe-objects.ts";
import { stripe } from "./stripe-server.ts";
import { siteStore } from "#test/site-store.ts";

// Purchases at a test site, by its accounts.

const db = createDb(siteStore);
export const PAGES = { successUrl: "https://demo.example/thanks", cancelUrl: "https://demo.example/shop" };
const PRICES = [
  { currency: "gbp", default: true, value: 1900 },
  { currency: "eur", default: false, value: 2200 },
];

const TicketItems = z.object({ items: z.array(z.object({ type: z.string(), id: z.string() })) });

/** An account that buys, with its credentials. */
export interface Buyer extends TestAccount {
  headers: Record<string, string>;
}

export async function newBuyer(site: TestSite): Promise<Buyer> {
  const account = await site.addAccount(`buyer-${randomHex(5)}`, []);
  return { ...account, headers: { "Tifo-Client-Id": site.id, Authorization: `Bearer ${await site.signIn(account)}` } };
}

/** Calls an operation as the buyer. */
export function callAs(site: TestSite, buyer: Buyer, operationId: string, options: CallOptions = {}): Promise<ApiResponse> {
  return site.call(operationId, { ...options, as: "nobody", headers: { ...buyer.headers, ...options.headers } });
}

/** Creates a subscription with a new sku. */
export async function newSubscription(site: TestSite, fields: Record<string, unknown> = {}) {
  const sku = `pass-${randomHex(4)}`;
  const body = { siteId: site.id, name: "Cup pass", sku, subscriptionProvider: "stripe", recurrence: "once", prices: PRICES, ...fields };
  return (await site.call("createSubscription", { body })).as(Subscription);
}

export async function newBundle(site: TestSite, fields: Record<string, unknown> = {}) {
  const ticket = `ticket-${randomHex(4)}`;
  await addSkus(site, ticket);
  const items = [
    { type: "ticket", id: ticket },
    { type: "shopify", id: "8012345678901" },
  ];
  const tickets = TicketItems.safeParse(fields).data?.items ?? [];
  await addSkus(site, ...tickets.flatMap(({ type, id }) => (type === "ticket" ? [id] : [])));
  const body = { name: "Derby day", sku: `bundle-${randomHex(4)}`, price: 2900, presentmentCurrency: "gbp", items, ...fields };
  return (await site.call("createBundle", { body })).as(Bundle);
}

/** Opens a payment page for a subscription. */
export async function openCheckout(site: TestSite, buyer: Buyer, id: string, body: Record<string, unknown> = {}) {
  return (await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: { ...PAGES, ...body } })).as(CheckoutAnswer);
}

/** How much of a charge Stripe has refunded, in minor units. */
export function refundedAtStripe(chargeId: string): number {
  return stripe.records().intents.get(stripe.checkoutSessionOf(chargeId)?.intent ?? "")?.refunded ?? 0;
}

/** Buys a subscription: opens the page, pays it and sends Stripe's event. */
export async function buy(site: TestSite, buyer: Buyer, id: string): Promise<string> {
  const { chargeId } = await openCheckout(site, buyer, id);
  const session = stripe.pay(chargeId);
  await sendStripeEvent(site, "checkout.session.completed", {
    id: session.id,
    object: "checkout.session",
    metadata: { chargeId, siteId: site.id },
  });
  return chargeId;
}

/** A new buyer's completed purchase of a new subscription, by default a one-off. */
export async function newPurchase(site: TestSite, fields: Record<string, unknown> = {}) {
  const buyer = await newBuyer(site);
  const subscription = await newSubscription(site, fields);
  return { buyer, subscription, chargeId: await buy(site, buyer, subscription._id) };
}

/** A new buyer with a monthly subscription, and the ids that identify it. */
export async function newMonthlyPurchase(site: TestSite) {
  const { buyer, subscription, chargeId } = await newPurchase(site, { recurrence: "month" });
  const recurring = await recurringRow(buyer);
  const params = { walletId: await walletIdOf(site, buyer), subscriptionId: recurring.id };
  return { buyer, sku: subscription.sku, chargeId, recurring, params };
}

/** The subscription as stored at Stripe, for a test to modify. */
export function stripeSubscription(id: string): StripeSubscription {
  const subscription = stripe.records().subscriptions.get(id);
  if (!subscription) throw new Error("Stripe has no such subscription");
  return subscription;
}

/** Sends Stripe's event about a changed subscription. */
export function sendSubscriptionEvent(site: TestSite, id: string, change: "updated" | "deleted" = "updated"): Promise<ApiResponse> {
  const known = stripe.records().subscriptions.get(id);
  return sendStripeEvent(site, `customer.subscription.${change}`, known ? showSubscription(known) : { object: "subscription", id });
}

/** Sends an event as Stripe does. */
export async function sendStripeEvent(site: TestSite, type: string, object: Record<string, unknown>): Promise<ApiResponse> {
  return site.call("receiveStripeEvent", { as: "nobody", ...(await stripe.event(type, object)) });
}

export async function sendRefundEvent(site: TestSite, chargeId: string): Promise<ApiResponse> {
  const { stripePaymentId } = await chargeRow(chargeId);
  return sendStripeEvent(site, "charge.refunded", {
    id: "ch_1",
    object: "charge",
    payment_intent: stripePaymentId,
    metadata: { chargeId },
  });
}

/** Refunds a charge as the site's admin. */
export async function refund(site: TestSite, buyer: Buyer, chargeId: string, amount?: number) {
  const body = { accountId: buyer.id, chargeId, reason: "requested_by_customer", ...(amount !== undefined && { amount }) };
  return (await site.call("refundCharge", { as: "admin", body })).as(ChargeResult);
}

export async function walletIdOf(site: TestSite, buyer: Buyer): Promise<string> {
  return (await callAs(site, buyer, "getWallet")).as(Wallet)._id;
}

export async function chargeRow(id: string): Promise<typeof charges.$inferSelect> {
  const [row] = await db.select().from(charges).where(eq(charges.id, id));
  if (!row) throw new Error("No such charge");
  return row;
}

export function chargesOf(buyer: Buyer) {
  return db.select().from(charges).where(eq(charges.accountId, buyer.id)).orderBy(charges.created, charges.id);
}

export function refundRows(chargeId: string) {
  return db.select().from(refunds).where(eq(refunds.chargeId, chargeId));
}

export function entitlementsOf(buyer: Buyer) {
  return db.select().from(accountEntitlements).where(eq(accountEntitlements.accountId, buyer.id));
}

/** The skus that the buyer holds, sorted. */
export async function heldSkus(buyer: Buyer): Promise<string[]> {
  const rows = await entitlementsOf(buyer);
  return rows
    .filter(({ status }) => status !== "cancelled")
    .map(({ sku }) => sku)
    .sort();
}

export async function recurringRow(buyer: Buyer) {
  const [row] = await db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.accountId, buyer.id));
  if (!row) throw new Error("The buyer has no recurring subscription");
  return row;
}

/** Moves everything that a buyer has bought this far into the past. */
export async function backdate(buyer: Buyer, ms: number): Promise<void> {
  const { stripeSubscriptionId } = await recurringRow(buyer);
  const seconds = Math.floor(ms / 1000);
  stripeSubscription(stripeSubscriptionId).periodEnd -= seconds;
  for (const invoice of stripe.records().invoices.values()) {
    if (invoice.subscription === stripeSubscriptionId) invoice.created -= seconds;
  }
  await db.batch([
    db
      .update(charges)
      .set({ created: sql`${charges.created} - ${ms}` })
      .where(eq(charges.accountId, buyer.id)),
    db
      .update(accountEntitlements)
      .set({ dateEnds: sql`${accountEntitlements.dateEnds} - ${ms}` })
      .where(eq(accountEntitlements.accountId, buyer.id)),
    db
      .update(recurringSubscriptions)
      .set({ currentPeriodEnd: sql`${recurringSubscriptions.currentPeriodEnd} - ${ms}` })
      .where(eq(recurringSubscriptions.accountId, buyer.id)),
  ]);
}

/** Makes all open charges and recurring subscriptions of a site due. */
export async function makeBillingDue(site: TestSite): Promise<void> {
  await db.batch([
    db
      .update(charges)
      .set({ due: 1 })
      .where(and(eq(charges.siteId, site.id), eq(charges.status, "pending"))),
    db.update(recurringSubscriptions).set({ due: 1 }).where(eq(recurringSubscriptions.siteId, site.id)),
  ]);
}

/** Runs the cron's reconciliation until nothing is due at this time, including what other tests have left. */
export async function reconcile(now = Date.now()): Promise<void> {
  const failures: unknown[] = [];
  for (;;) {
    await reconcileBilling({ env, db, shard: 1, now }).catch((error: unknown) => failures.push(error));
    const due = await Promise.all([charges, recurringSubscriptions].map((table) => db.$count(table, lte(table.due, now))));
    if (due.every((count) => count === 0)) break;
  }
  if (failures.length > 0) throw new AggregateError(failures, "The cron failed");
}
