import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { createDb } from "../../db/client.ts";
import { charges, recurringSubscriptions } from "../../db/schema/index.ts";
import { newSite, type TestSite } from "../../test/harness.ts";
import {
  type Buyer,
  callAs,
  chargesOf,
  entitlementsOf,
  newBuyer,
  newSubscription,
  PAGES,
  refundRows,
  tell,
  tellRefunded,
  tellSubscription,
  walletIdOf,
} from "../../test/shop.ts";
import { type Behaviour, stripe } from "../../test/stripe-server.ts";
import { CheckoutAnswer } from "../routes/billing/schemas.ts";
import { RecurringList } from "../routes/wallets/schemas.ts";
import { sourceOf } from "./charges.ts";
import { reconcileBilling } from "./reconcile.ts";

// Whatever is bought, refunded, cancelled, granted and revoked in whatever order, and whichever call of Stripe fails on the way or event of
// it is lost or comes twice: once everything has settled, our books are Stripe's, and an account holds what its money says. In some of the
// runs Stripe tells nothing at all, and the cron finds it out as time goes by.

const db = createDb(env.DB);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const KINDS = [
  "buyOnce",
  "buyMonthly",
  "buyTwice",
  "refund",
  "refundThere",
  "renew",
  "cancelNow",
  "cancelLater",
  "grant",
  "revoke",
] as const;

interface Step {
  kind: (typeof KINDS)[number];
  /** Which of several is meant. */
  pick: number;
  /** Of what is left of a charge; 1 asks for no amount. */
  share: number;
  /** How often Stripe's event arrives; where it tells nothing, how many hours the cron runs for. */
  told: number;
  /** What the call after the next `after` meets. */
  trouble: { does: Behaviour; after: number } | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS, "buyMonthly", "renew"),
  pick: fc.nat(5),
  share: fc.constantFrom(0.3, 0.5, 1, 1),
  told: fc.constantFrom(0, 1, 1, 2),
  trouble: fc.option(fc.record({ does: fc.constantFrom<Behaviour>("fail", "refuse", "stumble", "stumble", "lose"), after: fc.nat(3) }), {
    nil: null,
  }),
});

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

// The clock goes far ahead: nothing else is to come due.
beforeEach(() => db.batch([db.update(charges).set({ due: null }), db.update(recurringSubscriptions).set({ due: null })]));

class Shopping {
  /** Skus that somebody took away by hand. */
  readonly revoked = new Set<string>();
  readonly skus = new Map<string, { id: string; monthly: boolean }>();
  readonly buyer: Buyer;
  /** Stripe sends no event. */
  readonly silent: boolean;
  #later = 0;

  constructor(buyer: Buyer, silent: boolean) {
    this.buyer = buyer;
    this.silent = silent;
  }

  /** Lets time go by, and the cron run once at its end. A call of Stripe may fail: the next time is another chance. */
  async wait(ms: number): Promise<void> {
    this.#later += ms;
    await reconcileBilling({ env, db, now: Date.now() + this.#later }).catch(() => undefined);
  }

  async take({ kind, pick, share, told, trouble }: Step): Promise<void> {
    if (trouble) stripe.next(/./, ...Array.from({ length: trouble.after }, () => "work" as const), trouble.does);
    switch (kind) {
      case "buyOnce":
      case "buyMonthly":
        await this.#buy(pick, kind === "buyMonthly", told);
        break;
      case "buyTwice":
        await this.#buyTwice(pick, told);
        break;
      case "refund":
      case "refundThere":
        await this.#refund(pick, share, kind === "refundThere", told);
        break;
      case "renew":
        await this.#renew(pick, told);
        break;
      case "cancelNow":
      case "cancelLater":
        await this.#cancel(pick, kind === "cancelNow" ? "immediate" : "endOfBilling");
        break;
      case "grant":
      case "revoke":
        await this.#byHand(pick, kind);
    }
    stripe.recover();
  }

  async #sale(pick: number, monthly: boolean): Promise<string> {
    const known = [...this.skus.values()].filter((one) => one.monthly === monthly)[pick % 3];
    if (known) return known.id;
    const { _id: id, sku } = await newSubscription(site, { recurrence: monthly ? "month" : "once" });
    this.skus.set(sku, { id, monthly });
    return id;
  }

  async #buy(pick: number, monthly: boolean, told: number): Promise<void> {
    const chargeId = await this.#open(await this.#sale(pick, monthly));
    if (chargeId === undefined) return;
    if (pick === 5) stripe.expire(chargeId);
    else stripe.pay(chargeId);
    await this.#tellPaid(chargeId, told);
  }

  /** In two windows: who opens the second may close the first. */
  async #buyTwice(pick: number, told: number): Promise<void> {
    const id = await this.#sale(pick, pick % 2 === 0);
    const opened = await Promise.all([this.#open(id), this.#open(id)]);
    const paid = opened.filter((chargeId) => chargeId !== undefined && stripe.pageOf(chargeId)?.status === "open");
    for (const chargeId of paid) if (chargeId !== undefined) stripe.pay(chargeId);
    for (const chargeId of opened) if (chargeId !== undefined) await this.#tellPaid(chargeId, told);
  }

  async #open(id: string): Promise<string | undefined> {
    const answer = await callAs(site, this.buyer, "checkoutSubscription", { params: { id }, body: PAGES });
    return answer.status === 200 ? answer.as(CheckoutAnswer).chargeId : undefined;
  }

  #tellPaid(chargeId: string, told: number): Promise<void> {
    return this.#tell(told, () => tell(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } }));
  }

  async #refund(pick: number, share: number, there: boolean, told: number): Promise<void> {
    if (there && this.silent) return this.#refundUnheard(pick, share);
    const paid = (await chargesOf(this.buyer)).filter(({ status }) => status === "complete");
    const charge = paid[pick % Math.max(1, paid.length)];
    if (!charge) return;
    const amount = Math.max(1, Math.floor((charge.amount - charge.reserved) * share));
    if (there) {
      const intent = stripe.books().intents.get(charge.stripePaymentId ?? "");
      if (!intent || amount > intent.amount - intent.refunded) return;
      stripe.refundThere(intent.id, amount);
    } else {
      const body = { accountId: this.buyer.id, chargeId: charge.id, reason: "requested_by_customer", ...(share < 1 && { amount }) };
      await site.call("refundCharge", { as: "admin", body });
    }
    await this.#tell(told, () => tellRefunded(site, charge.id));
  }

  /** Refunds at Stripe what is paid there and not booked here yet: of what is booked, only Stripe could tell. */
  async #refundUnheard(pick: number, share: number): Promise<void> {
    const pages = (await chargesOf(this.buyer)).flatMap(({ id, status }) => (status === "pending" ? (stripe.pageOf(id) ?? []) : []));
    const paid = pages.filter((page) => page.paid);
    const page = paid[pick % Math.max(1, paid.length)];
    const intent = stripe.books().intents.get(page?.intent ?? stripe.books().invoices.get(page?.invoice ?? "")?.intent ?? "");
    const amount = intent && Math.floor((intent.amount - intent.refunded) * share);
    if (intent && amount) stripe.refundThere(intent.id, amount);
  }

  async #renew(pick: number, told: number): Promise<void> {
    const live = (await recurringOf(this.buyer)).filter(
      ({ stripeSubscriptionId: id }) => stripe.books().subscriptions.get(id)?.status === "active",
    );
    const recurring = live[pick % Math.max(1, live.length)];
    if (!recurring) return;
    stripe.renew(recurring.stripeSubscriptionId);
    await this.#tell(told, () => tellSubscription(site, recurring.stripeSubscriptionId));
  }

  async #cancel(pick: number, scheduled: string): Promise<void> {
    const walletId = await walletIdOf(site, this.buyer);
    const listed = (await callAs(site, this.buyer, "listRecurringSubscriptions", { params: { walletId } })).as(RecurringList);
    const one = listed[pick % Math.max(1, listed.length)];
    if (!one) return;
    const params = { walletId, subscriptionId: one._id };
    await site.call("cancelRecurringSubscription", { as: "admin", params, body: { refund: pick > 3, scheduled } });
  }

  async #byHand(pick: number, kind: "grant" | "revoke"): Promise<void> {
    const sku = [...this.skus.keys()][pick % Math.max(1, this.skus.size)];
    if (sku === undefined) return;
    const rows = await entitlementsOf(this.buyer);
    const row = rows.find((one) => one.sku === sku && one.status !== "cancelled");
    if (kind === "grant") await site.call("grantSubscription", { as: "admin", body: { accountId: this.buyer.id, sku } });
    else if (row) {
      const answer = await site.call("revokeSubscription", { as: "admin", query: { accountId: this.buyer.id, sku } });
      if (answer.status === 200) this.revoked.add(sku);
    }
  }

  async #tell(times: number, send: () => Promise<unknown>): Promise<void> {
    // The first time books what was paid, the second looks at what is paid regularly once more.
    if (this.silent) for (const minutes of [62, 2]) await this.wait(times * minutes * MINUTE);
    else await Promise.all(Array.from({ length: times }, send));
  }
}

function recurringOf(buyer: Buyer) {
  return db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.accountId, buyer.id));
}

/** Stripe repeats the events that were lost, and the cron asks about all that is open. */
async function settle(shopping: Shopping): Promise<void> {
  stripe.recover();
  if (shopping.silent) return settleByClock(shopping);
  const { buyer } = shopping;
  for (const minutes of [0, 11]) {
    await db
      .update(charges)
      .set({ due: 1 })
      .where(and(eq(charges.accountId, buyer.id), eq(charges.status, "pending")));
    await shopping.wait(minutes * MINUTE);
  }
  for (const { id, status } of await chargesOf(buyer)) if (status === "complete") await tellRefunded(site, id);
  for (const { stripeSubscriptionId } of await recurringOf(buyer)) await tellSubscription(site, stripeSubscriptionId);
  // What a refund has ended is ended at Stripe too, which is asked until it has.
  for (const minutes of [1, 12, 12]) await shopping.wait(minutes * MINUTE);
}

/** Nothing is told: months go by, as many as were paid, with a look at each end of a period. */
async function settleByClock(shopping: Shopping): Promise<void> {
  for (const minutes of [1, 12, 62, 12, 12]) await shopping.wait(minutes * MINUTE);
  const ends = [...stripe.books().subscriptions.values()].map(({ periodEnd }) => periodEnd * 1000);
  const months = Math.ceil((Math.max(Date.now(), ...ends) - Date.now()) / (30 * DAY));
  for (let month = 0; month < months; month++) await shopping.wait(31 * DAY);
  for (const minutes of [12, 12]) await shopping.wait(minutes * MINUTE);
}

async function expectBooksToBalance(shopping: Shopping): Promise<void> {
  const { buyer } = shopping;
  const [rows, recurring, entitlements] = [await chargesOf(buyer), await recurringOf(buyer), await entitlementsOf(buyer)];
  const ended = new Set<string>();
  for (const charge of rows) {
    const page = stripe.pageOf(charge.id);
    if (charge.stripeInvoiceId === null || page)
      expect(charge.status).toBe(page?.paid ? "complete" : page?.status === "open" ? "pending" : "declined");
    const ours = await refundRows(charge.id);
    const back = ours.filter(({ status }) => status === "complete").reduce((sum, { amount }) => sum + amount, 0);
    expect(ours.filter(({ status }) => status === "pending")).toEqual([]);
    expect({ refunded: charge.refunded, reserved: charge.reserved }).toEqual({ refunded: back, reserved: back });
    expect(back).toBeLessThanOrEqual(charge.amount);
    if (charge.status !== "complete") continue;
    expect(stripe.books().intents.get(charge.stripePaymentId ?? "")?.refunded).toBe(back);
    if (back === charge.amount && charge.recurringId === null) ended.add(`charge/${charge.id}`);
  }
  for (const { id, status, stripeSubscriptionId } of recurring) {
    const there = stripe.books().subscriptions.get(stripeSubscriptionId);
    expect(status).toBe(there?.status === "canceled" ? "cancelled" : there?.scheduled ? "cancelScheduled" : "active");
    const invoices = [...stripe.books().invoices.values()].filter(({ subscription }) => subscription === stripeSubscriptionId);
    expect(
      rows
        .filter((charge) => charge.recurringId === id)
        .map(({ stripeInvoiceId }) => stripeInvoiceId)
        .sort(),
    ).toEqual(invoices.map((one) => one.id).sort());
    if (status === "cancelled") ended.add(`recurring/${id}`);
  }
  const holding = entitlements.filter(({ status }) => status !== "cancelled");
  expect(new Set(holding.map(({ sku }) => sku)).size).toBe(holding.length);
  for (const row of entitlements.filter(({ grantedMethod }) => grantedMethod === "purchased")) {
    const over = ended.has(row.source ?? "");
    if (over) expect(row.status).toBe("cancelled");
    else if (row.status === "cancelled") expect(shopping.revoked).toContain(row.sku);
  }
  // What was paid for was granted, or held already; then the money went back, unless Stripe refused that.
  for (const charge of rows.filter(({ status }) => status === "complete")) {
    for (const sku of charge.skus) expect(entitlements.map((row) => row.sku)).toContain(sku);
    const bought = entitlements.some(({ source }) => source === sourceOf(charge));
    const refused = (await refundRows(charge.id)).some(({ status, failure }) => status === "declined" && failure === "This can't be done");
    expect(bought || refused || charge.refunded === charge.amount).toBe(true);
  }
}

test("money and entitlements agree with Stripe and with each other, whatever happened in between", { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), fc.boolean(), async (steps, silent) => {
      const shopping = new Shopping(await newBuyer(site), silent);
      for (const one of steps) await shopping.take(one);
      await settle(shopping);
      await expectBooksToBalance(shopping);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
