import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { vi } from "vitest";
import { createDb } from "#db/client.ts";
import { recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { RecurringList } from "#worker/services/wallets/schemas.ts";
import { expireEntitlements } from "#worker/services/subscriptions/entitlement-expiry.ts";
import { pruneCharges, reconcileBilling } from "#worker/services/billing/reconcile.ts";
import type { CallOptions, TestSite } from "./harness.ts";
import {
  type Buyer,
  callAs,
  chargesOf,
  entitlementsOf,
  heldSkus,
  newBundle,
  newSubscription,
  PAGES,
  sendStripeEvent,
  sendRefundEvent,
  sendSubscriptionEvent,
  walletIdOf,
} from "./purchases.ts";
import type { Subscription as StripeSubscription } from "./stripe-objects.ts";
import { advance, applyFailure, DAY, HOUR, MINUTE, type Step } from "./buyer-steps.ts";
import { stripe } from "./stripe-server.ts";
import { siteStore } from "#test/site-store.ts";

// Simulates a buyer step by step, with failures, for the property that our records match Stripe's whatever happened.

const db = createDb(siteStore);
type Kind = "once" | "month" | "bundle";

export class BuyerSimulation {
  readonly site: TestSite;
  readonly buyer: Buyer;
  /** Whether Stripe sends no events. */
  readonly silent: boolean;
  /** Skus that an admin has revoked. */
  readonly revoked = new Set<string>();
  /** Charges with a refund that failed after it had succeeded: the entitlements that it ended stay ended. */
  readonly reversedRefunds = new Set<string>();
  readonly skus = new Map<string, { id: string; kind: Kind }>();
  isDeleted = false;
  #recover = (): void => undefined;

  constructor(site: TestSite, buyer: Buyer, silent: boolean) {
    this.site = site;
    this.buyer = buyer;
    this.silent = silent;
  }

  /** Advances the time here and at Stripe, then runs the cron once. What fails is retried at the next run. */
  async wait(ms: number): Promise<void> {
    advance(ms);
    stripe.processDue(this.site.id);
    await this.cron();
  }

  /** Advances the time only here. */
  async waitHere(ms: number): Promise<void> {
    advance(ms);
    await this.cron();
  }

  /** Runs the cron's billing steps in order. */
  async cron(): Promise<void> {
    const context = { env, db, shard: 1, now: Date.now() };
    for (const run of [expireEntitlements, pruneCharges, reconcileBilling]) await run(context).catch(() => undefined);
  }

  async run(step: Step): Promise<void> {
    this.#recover = applyFailure(step.failure);
    const died = step.failure?.does === "die";
    await this.#execute(step).catch((error: unknown) => {
      if (!died) throw error;
    });
    this.#recover();
    if (this.isDeleted) await vi.waitUntil(async () => (await heldSkus(this.buyer)).length === 0);
  }

  /** The recurring subscriptions that haven't ended at Stripe. */
  async active(): Promise<StripeSubscription[]> {
    const rows = await recurringOf(this.buyer);
    return rows.flatMap(({ stripeSubscriptionId: id }) => {
      const subscription = stripe.records().subscriptions.get(id);
      return subscription && subscription.status !== "canceled" ? [subscription] : [];
    });
  }

  async #execute({ kind, pick, share, deliveries }: Step): Promise<void> {
    switch (kind) {
      case "buyOnce":
        return this.#buy(pick, "once", deliveries);
      case "buyMonthly":
        return this.#buy(pick, "month", deliveries);
      case "buyBundle":
        return this.#buy(pick, "bundle", deliveries);
      case "buyTwice":
        return this.#buyTwice(pick, deliveries);
      case "buyWithKey":
        return this.#buyWithKey(pick, deliveries);
      case "buyGranted":
        return this.#buyGranted(pick, deliveries);
      case "refund":
        return this.#refund(pick, share, deliveries);
      case "refundAtStripe":
        return this.silent ? this.#refundUnrecorded(pick, share) : this.#refundAtStripe(pick, share, deliveries);
      case "refundFails":
        return this.#refundFails(pick, deliveries);
      case "month":
      case "hour":
        return this.#passTime(pick, kind, deliveries);
      case "cancelNow":
        return this.#cancel(pick, "immediate");
      case "cancelLater":
        return this.#cancel(pick, "endOfBilling");
      case "withdraw":
        return this.#withdraw(pick, deliveries);
      case "grant":
        return this.#grant(pick);
      case "revoke":
        return this.#revoke(pick);
      case "leave":
        return this.#leave(pick);
    }
  }

  /** An existing or new product of a kind, sometimes priced in yen. */
  async #product(pick: number, kind: Kind): Promise<string> {
    const existing = [...this.skus.values()].filter((product) => product.kind === kind)[pick % 3];
    if (existing) return existing.id;
    const currency = pick % 2 === 0 ? "gbp" : "jpy";
    const created = kind === "bundle" ? await this.#newBundle(currency) : await this.#newSubscription(kind, currency);
    this.skus.set(created.sku, { id: created.id, kind });
    return created.id;
  }

  async #newSubscription(kind: "once" | "month", currency: string): Promise<{ id: string; sku: string }> {
    const { _id: id, sku } = await newSubscription(this.site, { recurrence: kind, prices: [{ currency, default: true, value: 1900 }] });
    return { id, sku };
  }

  /** With tickets that the buyer may already hold. */
  async #newBundle(presentmentCurrency: string): Promise<{ id: string; sku: string }> {
    const tickets = [...this.skus.keys()].slice(0, 2);
    const items = [...tickets, `ticket-${randomHex(4)}`].map((id) => ({ type: "ticket", id }));
    return newBundle(this.site, { items, presentmentCurrency });
  }

  async #buy(pick: number, kind: Kind, deliveries: number): Promise<void> {
    const id = await this.#product(pick, kind);
    const chargeId = await this.#open(id, kind);
    if (chargeId === undefined) return;
    if (pick === 5) stripe.expire(chargeId);
    else stripe.pay(chargeId);
    await this.#sendPaymentEvent(chargeId, deliveries);
  }

  /** Buys in two windows: opening the second page may close the first. */
  async #buyTwice(pick: number, deliveries: number): Promise<void> {
    const kind = pick % 2 === 0 ? "month" : "once";
    const id = await this.#product(pick, kind);
    const both = await Promise.allSettled([this.#open(id, kind), this.#open(id, kind)]);
    const opened = both.flatMap((one) => (one.status === "fulfilled" && one.value !== undefined ? [one.value] : []));
    for (const chargeId of opened) if (stripe.checkoutSessionOf(chargeId)?.status === "open") stripe.pay(chargeId);
    for (const chargeId of opened) await this.#sendPaymentEvent(chargeId, deliveries);
  }

  /** Repeats the call with the same key, as a client does after a 500 or 503. */
  async #buyWithKey(pick: number, deliveries: number): Promise<void> {
    const kind = pick % 2 === 0 ? "month" : "once";
    const id = await this.#product(pick, kind);
    const headers = { "Idempotency-Key": `buy-${randomHex(8)}` };
    let chargeId: string | undefined;
    for (let attempt = 0; attempt < 3; attempt++) {
      // Only the first attempt fails.
      if (attempt > 0) this.#recover();
      chargeId = (await this.#open(id, kind, headers).catch(() => undefined)) ?? chargeId;
    }
    if (chargeId === undefined) return;
    if (stripe.checkoutSessionOf(chargeId)?.status === "open") stripe.pay(chargeId);
    await this.#sendPaymentEvent(chargeId, deliveries);
  }

  /** The buyer is granted the sku between opening the page and paying. */
  async #buyGranted(pick: number, deliveries: number): Promise<void> {
    const kind = pick % 2 === 0 ? "month" : "once";
    const id = await this.#product(pick, kind);
    const chargeId = await this.#open(id, kind);
    const [sku] = [...this.skus].find(([, one]) => one.id === id) ?? [];
    if (chargeId === undefined || sku === undefined) return;
    await this.#asAdmin("grantSubscription", { body: { accountId: this.buyer.id, sku } });
    stripe.pay(chargeId);
    await this.#sendPaymentEvent(chargeId, deliveries);
  }

  async #open(id: string, kind: Kind, headers: Record<string, string> = {}): Promise<string | undefined> {
    const operation = kind === "bundle" ? "checkoutBundle" : "checkoutSubscription";
    const response = await this.#asBuyer(operation, { params: { id }, body: PAGES, headers });
    return response.status === 200 ? response.as(CheckoutAnswer).chargeId : undefined;
  }

  #sendPaymentEvent(chargeId: string, deliveries: number): Promise<void> {
    return this.#deliver(deliveries, () =>
      sendStripeEvent(this.site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } }),
    );
  }

  async #refund(pick: number, share: number, deliveries: number): Promise<void> {
    const charge = await this.#paid(pick);
    if (!charge) return;
    const amount = Math.max(1, Math.floor((charge.amount - charge.reserved) * share));
    const body = { accountId: this.buyer.id, chargeId: charge.id, reason: "requested_by_customer", ...(share < 1 && { amount }) };
    await this.#asAdmin("refundCharge", { body });
    await this.#deliver(deliveries, () => sendRefundEvent(this.site, charge.id));
  }

  async #refundAtStripe(pick: number, share: number, deliveries: number): Promise<void> {
    const charge = await this.#paid(pick);
    const intent = stripe.records().intents.get(charge?.stripePaymentId ?? "");
    if (!charge || !intent) return;
    const amount = Math.max(1, Math.floor((charge.amount - charge.reserved) * share));
    if (amount > intent.amount - intent.refunded) return;
    stripe.refundAtStripe(intent.id, amount);
    await this.#deliver(deliveries, () => sendRefundEvent(this.site, charge.id));
  }

  /** Refunds at Stripe a payment that is not recorded here yet: without events, a later refund would go unnoticed. */
  async #refundUnrecorded(pick: number, share: number): Promise<void> {
    const pages = (await chargesOf(this.buyer)).flatMap(({ id, status }) =>
      status === "pending" ? (stripe.checkoutSessionOf(id) ?? []) : [],
    );
    const page = select(
      pages.filter(({ paid }) => paid),
      pick,
    );
    const intent = stripe.records().intents.get(page?.intent ?? stripe.records().invoices.get(page?.invoice ?? "")?.intent ?? "");
    const amount = intent && Math.floor((intent.amount - intent.refunded) * share);
    if (intent && amount) stripe.refundAtStripe(intent.id, amount);
  }

  /** The buyer's bank returns a completed refund, which only an event from Stripe reports. */
  async #refundFails(pick: number, deliveries: number): Promise<void> {
    if (this.silent) return;
    const charge = await this.#paid(pick);
    const refunds = charge ? stripe.refundsOf(charge.stripePaymentId ?? "").filter(({ status }) => status === "succeeded") : [];
    const refund = select(refunds, pick);
    if (!charge || !refund) return;
    stripe.settleRefund(refund.id, "failed");
    this.reversedRefunds.add(charge.id);
    await this.#deliver(deliveries, () => sendRefundEvent(this.site, charge.id));
  }

  /** Advances to or past the next end of a period. */
  async #passTime(pick: number, kind: "month" | "hour", deliveries: number): Promise<void> {
    const active = await this.active();
    const ends = Math.min(Date.now() + 31 * DAY, ...active.map(({ periodEnd }) => periodEnd * 1000));
    await this.wait(kind === "hour" ? HOUR : Math.max(0, ends - Date.now()) + pick * HOUR);
    for (const { id } of active) await this.#deliver(deliveries, () => sendSubscriptionEvent(this.site, id));
  }

  async #cancel(pick: number, scheduled: string): Promise<void> {
    const rows = await this.#recurring();
    const one = select(rows.list, pick);
    if (!one) return;
    const params = { walletId: rows.walletId, subscriptionId: one._id };
    await this.#asAdmin("cancelRecurringSubscription", { params, body: { refund: pick > 3, scheduled } });
  }

  async #recurring() {
    if (this.isDeleted) return { walletId: "", list: [] };
    await this.#signIn();
    const wallet = await callAs(this.site, this.buyer, "getWallet");
    if (wallet.status !== 200) return { walletId: "", list: [] };
    const walletId = await walletIdOf(this.site, this.buyer);
    const list = (await callAs(this.site, this.buyer, "listRecurringSubscriptions", { params: { walletId } })).as(RecurringList);
    return { walletId, list };
  }

  /** A cancellation is withdrawn at Stripe. */
  async #withdraw(pick: number, deliveries: number): Promise<void> {
    const scheduled = (await this.active()).filter((one) => one.scheduled);
    const one = select(scheduled, pick);
    if (!one) return;
    one.scheduled = false;
    await this.#deliver(deliveries, () => sendSubscriptionEvent(this.site, one.id));
  }

  async #grant(pick: number): Promise<void> {
    const sku = select([...this.skus.keys()], pick);
    if (sku !== undefined) await this.#asAdmin("grantSubscription", { body: { accountId: this.buyer.id, sku } });
  }

  async #revoke(pick: number): Promise<void> {
    const rows = (await entitlementsOf(this.buyer)).filter(({ status }) => status !== "cancelled");
    const row = select(rows, pick);
    if (!row) return;
    // Recorded before the call, which may fail.
    this.revoked.add(row.sku);
    await this.#asAdmin("revokeSubscription", { query: { accountId: this.buyer.id, sku: row.sku } });
  }

  async #leave(pick: number): Promise<void> {
    if (pick > 1 || this.isDeleted) return;
    const response = await this.#asAdmin("deleteAccount", { params: { id: this.buyer.id } });
    this.isDeleted = response.status === 200;
  }

  async #paid(pick: number) {
    return select(
      (await chargesOf(this.buyer)).filter(({ status }) => status === "complete"),
      pick,
    );
  }

  /** Tokens are valid for ten minutes. */
  async #signIn(): Promise<void> {
    this.buyer.headers.Authorization = `Bearer ${await this.site.signIn(this.buyer)}`;
  }

  async #asBuyer(operationId: string, options: CallOptions) {
    await this.#signIn();
    return callAs(this.site, this.buyer, operationId, options);
  }

  async #asAdmin(operationId: string, options: CallOptions) {
    const Authorization = `Bearer ${await this.site.signIn(this.site.accounts.admin)}`;
    const headers = { "Tifo-Client-Id": this.site.id, Authorization };
    return this.site.call(operationId, { ...options, as: "nobody", headers });
  }

  async #deliver(times: number, send: () => Promise<unknown>): Promise<void> {
    // The first wait records payments, the second checks recurring subscriptions again.
    if (this.silent) for (const minutes of [62, 2]) await this.wait(times * minutes * MINUTE);
    else await Promise.allSettled(Array.from({ length: times }, send));
  }
}

export function recurringOf(buyer: Buyer) {
  return db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.accountId, buyer.id));
}

/** Stripe repeats lost events, and the cron reconciles everything that is open until nothing is. */
export async function settleAll(simulation: BuyerSimulation): Promise<void> {
  const { site, buyer, silent } = simulation;
  if (!silent) {
    for (const { id, status } of await chargesOf(buyer)) {
      if (status === "pending")
        await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId: id } });
      else if (status === "complete") await sendRefundEvent(site, id);
    }
    for (const { stripeSubscriptionId } of await recurringOf(buyer)) await sendSubscriptionEvent(site, stripeSubscriptionId);
  }
  for (const ms of [MINUTE, 12 * MINUTE, 62 * MINUTE, 12 * MINUTE, 4 * HOUR, DAY, 4 * HOUR, 12 * MINUTE]) await simulation.waitHere(ms);
  // Rejected refunds are retried much later.
  for (let round = 0; round < 8; round++) {
    const open = (await chargesOf(buyer)).flatMap(({ status, due }) => (status === "complete" && due !== null ? [due] : []));
    if (open.length === 0) return;
    await simulation.waitHere(Math.max(MINUTE, Math.min(...open) - Date.now()));
  }
}

/** Selects an item, starting from the last. */
function select<T>(all: T[], pick: number): T | undefined {
  return all.at(-1 - (pick % Math.max(1, all.length)));
}
