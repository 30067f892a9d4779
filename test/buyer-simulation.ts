import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { vi } from "vitest";
import { createDb } from "#db/client.ts";
import { recurringSubscriptions } from "#db/schema/index.ts";
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
import { advance, DAY, HOUR, meet, MINUTE, type Step } from "./buyer-steps.ts";
import { stripe } from "./stripe-server.ts";

// One buyer's life, step by step, with trouble on the way: for the property that the books balance whatever happened.

const db = createDb(env.DB);
type Kind = "once" | "month" | "bundle";

export class BuyerSimulation {
  readonly site: TestSite;
  readonly buyer: Buyer;
  /** Stripe sends no event. */
  readonly silent: boolean;
  /** Skus that somebody took away by hand. */
  readonly revoked = new Set<string>();
  /** Charges of which a refund failed after it had succeeded: what it had ended stays so. */
  readonly failedBack = new Set<string>();
  readonly skus = new Map<string, { id: string; kind: Kind }>();
  isGone = false;
  #recover = (): void => undefined;

  constructor(site: TestSite, buyer: Buyer, silent: boolean) {
    this.site = site;
    this.buyer = buyer;
    this.silent = silent;
  }

  /** Lets time go by, here and at Stripe, and the cron run once at its end. What fails has its next chance the next time. */
  async wait(ms: number): Promise<void> {
    advance(ms);
    stripe.tick(this.site.id);
    await this.cron();
  }

  /** Lets time go by here alone. */
  async waitHere(ms: number): Promise<void> {
    advance(ms);
    await this.cron();
  }

  /** What the cron does for money, in its order. */
  async cron(): Promise<void> {
    const by = { env, db, now: Date.now() };
    for (const run of [expireEntitlements, pruneCharges, reconcileBilling]) await run(by).catch(() => undefined);
  }

  async take(step: Step): Promise<void> {
    this.#recover = meet(step.trouble);
    const died = step.trouble?.does === "die";
    await this.#do(step).catch((error: unknown) => {
      if (!died) throw error;
    });
    this.#recover();
    if (this.isGone) await vi.waitUntil(async () => (await heldSkus(this.buyer)).length === 0);
  }

  /** What is paid regularly and hasn't ended at Stripe. */
  async live(): Promise<StripeSubscription[]> {
    const rows = await recurringOf(this.buyer);
    return rows.flatMap(({ stripeSubscriptionId: id }) => {
      const there = stripe.books().subscriptions.get(id);
      return there && there.status !== "canceled" ? [there] : [];
    });
  }

  async #do({ kind, pick, share, told }: Step): Promise<void> {
    switch (kind) {
      case "buyOnce":
        return this.#buy(pick, "once", told);
      case "buyMonthly":
        return this.#buy(pick, "month", told);
      case "buyBundle":
        return this.#buy(pick, "bundle", told);
      case "buyTwice":
        return this.#buyTwice(pick, told);
      case "buyWithKey":
        return this.#buyWithKey(pick, told);
      case "buyGiven":
        return this.#buyGiven(pick, told);
      case "refund":
        return this.#refund(pick, share, told);
      case "refundThere":
        return this.silent ? this.#refundUnheard(pick, share) : this.#refundThere(pick, share, told);
      case "refundFails":
        return this.#refundFails(pick, told);
      case "month":
      case "hour":
        return this.#passTime(pick, kind, told);
      case "cancelNow":
        return this.#cancel(pick, "immediate");
      case "cancelLater":
        return this.#cancel(pick, "endOfBilling");
      case "withdraw":
        return this.#withdraw(pick, told);
      case "grant":
        return this.#grant(pick);
      case "revoke":
        return this.#revoke(pick);
      case "leave":
        return this.#leave(pick);
    }
  }

  /** Something of a kind: one that was offered before, or a new one, in yens at times. */
  async #sale(pick: number, kind: Kind): Promise<string> {
    const known = [...this.skus.values()].filter((one) => one.kind === kind)[pick % 3];
    if (known) return known.id;
    const currency = pick % 2 === 0 ? "gbp" : "jpy";
    const made = kind === "bundle" ? await this.#newBundle(currency) : await this.#newSubscription(kind, currency);
    this.skus.set(made.sku, { id: made.id, kind });
    return made.id;
  }

  async #newSubscription(kind: "once" | "month", currency: string): Promise<{ id: string; sku: string }> {
    const { _id: id, sku } = await newSubscription(this.site, { recurrence: kind, prices: [{ currency, default: true, value: 1900 }] });
    return { id, sku };
  }

  /** With tickets that may be held already. */
  async #newBundle(presentmentCurrency: string): Promise<{ id: string; sku: string }> {
    const tickets = [...this.skus.keys()].slice(0, 2);
    const items = [...tickets, `ticket-${randomHex(4)}`].map((id) => ({ type: "ticket", id }));
    return newBundle(this.site, { items, presentmentCurrency });
  }

  async #buy(pick: number, kind: Kind, told: number): Promise<void> {
    const id = await this.#sale(pick, kind);
    const chargeId = await this.#open(id, kind);
    if (chargeId === undefined) return;
    if (pick === 5) stripe.expire(chargeId);
    else stripe.pay(chargeId);
    await this.#tellPaid(chargeId, told);
  }

  /** In two windows: who opens the second may close the first. */
  async #buyTwice(pick: number, told: number): Promise<void> {
    const kind = pick % 2 === 0 ? "month" : "once";
    const id = await this.#sale(pick, kind);
    const both = await Promise.allSettled([this.#open(id, kind), this.#open(id, kind)]);
    const opened = both.flatMap((one) => (one.status === "fulfilled" && one.value !== undefined ? [one.value] : []));
    for (const chargeId of opened) if (stripe.pageOf(chargeId)?.status === "open") stripe.pay(chargeId);
    for (const chargeId of opened) await this.#tellPaid(chargeId, told);
  }

  /** The same call until it is answered otherwise than with a 500 or 503. */
  async #buyWithKey(pick: number, told: number): Promise<void> {
    const kind = pick % 2 === 0 ? "month" : "once";
    const id = await this.#sale(pick, kind);
    const headers = { "Idempotency-Key": `buy-${randomHex(8)}` };
    let chargeId: string | undefined;
    for (let times = 0; times < 3; times++) {
      // The first may die; whoever is asked again lives.
      if (times > 0) this.#recover();
      chargeId = (await this.#open(id, kind, headers).catch(() => undefined)) ?? chargeId;
    }
    if (chargeId === undefined) return;
    if (stripe.pageOf(chargeId)?.status === "open") stripe.pay(chargeId);
    await this.#tellPaid(chargeId, told);
  }

  /** What somebody gives the buyer between the opening of the page and the payment. */
  async #buyGiven(pick: number, told: number): Promise<void> {
    const kind = pick % 2 === 0 ? "month" : "once";
    const id = await this.#sale(pick, kind);
    const chargeId = await this.#open(id, kind);
    const [sku] = [...this.skus].find(([, one]) => one.id === id) ?? [];
    if (chargeId === undefined || sku === undefined) return;
    await this.#asAdmin("grantSubscription", { body: { accountId: this.buyer.id, sku } });
    stripe.pay(chargeId);
    await this.#tellPaid(chargeId, told);
  }

  async #open(id: string, kind: Kind, headers: Record<string, string> = {}): Promise<string | undefined> {
    const operation = kind === "bundle" ? "checkoutBundle" : "checkoutSubscription";
    const answer = await this.#asBuyer(operation, { params: { id }, body: PAGES, headers });
    return answer.status === 200 ? answer.as(CheckoutAnswer).chargeId : undefined;
  }

  #tellPaid(chargeId: string, told: number): Promise<void> {
    return this.#tell(told, () =>
      sendStripeEvent(this.site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } }),
    );
  }

  async #refund(pick: number, share: number, told: number): Promise<void> {
    const charge = await this.#paid(pick);
    if (!charge) return;
    const amount = Math.max(1, Math.floor((charge.amount - charge.reserved) * share));
    const body = { accountId: this.buyer.id, chargeId: charge.id, reason: "requested_by_customer", ...(share < 1 && { amount }) };
    await this.#asAdmin("refundCharge", { body });
    await this.#tell(told, () => sendRefundEvent(this.site, charge.id));
  }

  async #refundThere(pick: number, share: number, told: number): Promise<void> {
    const charge = await this.#paid(pick);
    const intent = stripe.books().intents.get(charge?.stripePaymentId ?? "");
    if (!charge || !intent) return;
    const amount = Math.max(1, Math.floor((charge.amount - charge.reserved) * share));
    if (amount > intent.amount - intent.refunded) return;
    stripe.refundThere(intent.id, amount);
    await this.#tell(told, () => sendRefundEvent(this.site, charge.id));
  }

  /** Refunds at Stripe what is paid there and not booked here yet: of what is booked, only Stripe could tell. */
  async #refundUnheard(pick: number, share: number): Promise<void> {
    const pages = (await chargesOf(this.buyer)).flatMap(({ id, status }) => (status === "pending" ? (stripe.pageOf(id) ?? []) : []));
    const page = among(
      pages.filter(({ paid }) => paid),
      pick,
    );
    const intent = stripe.books().intents.get(page?.intent ?? stripe.books().invoices.get(page?.invoice ?? "")?.intent ?? "");
    const amount = intent && Math.floor((intent.amount - intent.refunded) * share);
    if (intent && amount) stripe.refundThere(intent.id, amount);
  }

  /** The buyer's bank sends back what had arrived there: nobody would know who wasn't told. */
  async #refundFails(pick: number, told: number): Promise<void> {
    if (this.silent) return;
    const charge = await this.#paid(pick);
    const refunds = charge ? stripe.refundsOf(charge.stripePaymentId ?? "").filter(({ status }) => status === "succeeded") : [];
    const refund = among(refunds, pick);
    if (!charge || !refund) return;
    stripe.settle(refund.id, "failed");
    this.failedBack.add(charge.id);
    await this.#tell(told, () => sendRefundEvent(this.site, charge.id));
  }

  /** To the end of the first period that ends next, or past it. */
  async #passTime(pick: number, kind: "month" | "hour", told: number): Promise<void> {
    const live = await this.live();
    const ends = Math.min(Date.now() + 31 * DAY, ...live.map(({ periodEnd }) => periodEnd * 1000));
    await this.wait(kind === "hour" ? HOUR : Math.max(0, ends - Date.now()) + pick * HOUR);
    for (const { id } of live) await this.#tell(told, () => sendSubscriptionEvent(this.site, id));
  }

  async #cancel(pick: number, scheduled: string): Promise<void> {
    const rows = await this.#recurring();
    const one = among(rows.list, pick);
    if (!one) return;
    const params = { walletId: rows.walletId, subscriptionId: one._id };
    await this.#asAdmin("cancelRecurringSubscription", { params, body: { refund: pick > 3, scheduled } });
  }

  async #recurring() {
    if (this.isGone) return { walletId: "", list: [] };
    await this.#signIn();
    const wallet = await callAs(this.site, this.buyer, "getWallet");
    if (wallet.status !== 200) return { walletId: "", list: [] };
    const walletId = await walletIdOf(this.site, this.buyer);
    const list = (await callAs(this.site, this.buyer, "listRecurringSubscriptions", { params: { walletId } })).as(RecurringList);
    return { walletId, list };
  }

  /** Somebody takes a cancellation back at Stripe. */
  async #withdraw(pick: number, told: number): Promise<void> {
    const scheduled = (await this.live()).filter((one) => one.scheduled);
    const one = among(scheduled, pick);
    if (!one) return;
    one.scheduled = false;
    await this.#tell(told, () => sendSubscriptionEvent(this.site, one.id));
  }

  async #grant(pick: number): Promise<void> {
    const sku = among([...this.skus.keys()], pick);
    if (sku !== undefined) await this.#asAdmin("grantSubscription", { body: { accountId: this.buyer.id, sku } });
  }

  async #revoke(pick: number): Promise<void> {
    const rows = (await entitlementsOf(this.buyer)).filter(({ status }) => status !== "cancelled");
    const row = among(rows, pick);
    if (!row) return;
    // Whether it is answered or not.
    this.revoked.add(row.sku);
    await this.#asAdmin("revokeSubscription", { query: { accountId: this.buyer.id, sku: row.sku } });
  }

  async #leave(pick: number): Promise<void> {
    if (pick > 1 || this.isGone) return;
    const answer = await this.#asAdmin("deleteAccount", { params: { id: this.buyer.id } });
    this.isGone = answer.status === 200;
  }

  async #paid(pick: number) {
    return among(
      (await chargesOf(this.buyer)).filter(({ status }) => status === "complete"),
      pick,
    );
  }

  /** Tokens are good for ten minutes. */
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

  async #tell(times: number, send: () => Promise<unknown>): Promise<void> {
    // The first time books what was paid, the second looks at what is paid regularly once more.
    if (this.silent) for (const minutes of [62, 2]) await this.wait(times * minutes * MINUTE);
    else await Promise.allSettled(Array.from({ length: times }, send));
  }
}

export function recurringOf(buyer: Buyer) {
  return db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.accountId, buyer.id));
}

/** Stripe repeats the events that were lost, and the cron asks about all that is open, until nothing is. */
export async function settleAll(shopping: BuyerSimulation): Promise<void> {
  const { site, buyer, silent } = shopping;
  if (!silent) {
    for (const { id, status } of await chargesOf(buyer)) {
      if (status === "pending")
        await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId: id } });
      else if (status === "complete") await sendRefundEvent(site, id);
    }
    for (const { stripeSubscriptionId } of await recurringOf(buyer)) await sendSubscriptionEvent(site, stripeSubscriptionId);
  }
  for (const ms of [MINUTE, 12 * MINUTE, 62 * MINUTE, 12 * MINUTE, 4 * HOUR, DAY, 4 * HOUR, 12 * MINUTE]) await shopping.waitHere(ms);
  // What was refused is asked for again long after.
  for (let times = 0; times < 8; times++) {
    const open = (await chargesOf(buyer)).flatMap(({ status, due }) => (status === "complete" && due !== null ? [due] : []));
    if (open.length === 0) return;
    await shopping.waitHere(Math.max(MINUTE, Math.min(...open) - Date.now()));
  }
}

/** One of them, from the last on. */
function among<T>(all: T[], pick: number): T | undefined {
  return all.at(-1 - (pick % Math.max(1, all.length)));
}
