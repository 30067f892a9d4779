import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { and, eq, lte, sql } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { accountEntitlements, charges, recurringSubscriptions, refunds } from "#db/schema/index.ts";
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

// Buying at a test site, as an account of its own does.

const db = createDb(env.DB);
export const PAGES = { successUrl: "https://demo.example/thanks", cancelUrl: "https://demo.example/shop" };
const PRICES = [
  { currency: "gbp", default: true, value: 1900 },
  { currency: "eur", default: false, value: 2200 },
];

const TicketItems = z.object({ items: z.array(z.object({ type: z.string(), id: z.string() })) });

/** Somebody who buys, with credentials of their own. */
export interface Buyer extends TestAccount {
  headers: Record<string, string>;
}

export async function newBuyer(site: TestSite): Promise<Buyer> {
  const account = await site.addAccount(`buyer-${randomHex(5)}`, []);
  return { ...account, headers: { "Tifo-Client-Id": site.id, Authorization: `Bearer ${await site.signIn(account)}` } };
}

/** A call as a buyer makes it. */
export function callAs(site: TestSite, buyer: Buyer, operationId: string, options: CallOptions = {}): Promise<ApiResponse> {
  return site.call(operationId, { ...options, as: "nobody", headers: { ...buyer.headers, ...options.headers } });
}

/** Something to sell: its sku is new. */
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

/** Opens the page of a subscription. */
export async function openCheckout(site: TestSite, buyer: Buyer, id: string, body: Record<string, unknown> = {}) {
  return (await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: { ...PAGES, ...body } })).as(CheckoutAnswer);
}

/** Buys a subscription, to the end: the page is paid, and Stripe has told so. */
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

/** Somebody new who has bought something new: once, or as `fields` say. */
export async function newPurchase(site: TestSite, fields: Record<string, unknown> = {}) {
  const buyer = await newBuyer(site);
  const subscription = await newSubscription(site, fields);
  return { buyer, subscription, chargeId: await buy(site, buyer, subscription._id) };
}

/** Somebody new who pays each month, and what names that. */
export async function newMonthlyPurchase(site: TestSite) {
  const { buyer, subscription, chargeId } = await newPurchase(site, { recurrence: "month" });
  const recurring = await recurringRow(buyer);
  const params = { walletId: await walletIdOf(site, buyer), subscriptionId: recurring.id };
  return { buyer, sku: subscription.sku, chargeId, recurring, params };
}

/** What Stripe has of a subscription, to be changed as if it did so itself. */
export function stripeSubscription(id: string): StripeSubscription {
  const subscription = stripe.books().subscriptions.get(id);
  if (!subscription) throw new Error("Stripe has no such subscription");
  return subscription;
}

/** Stripe tells that a subscription has changed. */
export function sendSubscriptionEvent(site: TestSite, id: string, change: "updated" | "deleted" = "updated"): Promise<ApiResponse> {
  const known = stripe.books().subscriptions.get(id);
  return sendStripeEvent(site, `customer.subscription.${change}`, known ? showSubscription(known) : { object: "subscription", id });
}

/** Sends an event of Stripe's. */
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

/** Refunds as the site's admin does. */
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

/** Skus that the buyer holds, in order. */
export async function heldSkus(buyer: Buyer): Promise<string[]> {
  const rows = await entitlementsOf(buyer);
  return rows
    .filter(({ status }) => status !== "cancelled")
    .map(({ sku }) => sku)
    .sort();
}

export async function recurringRow(buyer: Buyer) {
  const [row] = await db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.accountId, buyer.id));
  if (!row) throw new Error("Nothing is paid regularly");
  return row;
}

/** As if a buyer had bought everything so much earlier. */
export async function backdate(buyer: Buyer, ms: number): Promise<void> {
  const { stripeSubscriptionId } = await recurringRow(buyer);
  const seconds = Math.floor(ms / 1000);
  stripeSubscription(stripeSubscriptionId).periodEnd -= seconds;
  for (const invoice of stripe.books().invoices.values()) {
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

/** Lets everything that is open at a site be due. */
export async function makeBillingDue(site: TestSite): Promise<void> {
  await db.batch([
    db
      .update(charges)
      .set({ due: 1 })
      .where(and(eq(charges.siteId, site.id), eq(charges.status, "pending"))),
    db.update(recurringSubscriptions).set({ due: 1 }).where(eq(recurringSubscriptions.siteId, site.id)),
  ]);
}

/** The cron, at a moment, as often as it takes to reach all that is due by then, whoever left it so. */
export async function reconcile(now = Date.now()): Promise<void> {
  const failures: unknown[] = [];
  for (;;) {
    await reconcileBilling({ env, db, now }).catch((error: unknown) => failures.push(error));
    const left = await Promise.all([charges, recurringSubscriptions].map((table) => db.$count(table, lte(table.due, now))));
    if (left.every((count) => count === 0)) break;
  }
  if (failures.length > 0) throw new AggregateError(failures, "The cron failed");
}
