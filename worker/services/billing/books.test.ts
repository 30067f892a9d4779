import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { type ChargeRow, charges, type EntitlementRow, recurringSubscriptions } from "#db/schema/index.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { chargesOf, entitlementsOf, newBuyer, refundRows } from "#test/shop.ts";
import { recurringOf, settle, Shopping } from "#test/shopping.ts";
import { KINDS, ownClock, type Step } from "#test/shopping-trouble.ts";
import type { Behaviour } from "#test/stripe-server.ts";
import { stripe } from "#test/stripe-server.ts";
import { sourceOf } from "./charges.ts";
// Whatever is bought, refunded, cancelled, granted and revoked in whatever order, and whichever call of Stripe fails on the way, event of it
// is lost or comes twice, or write of ours never happens: once everything has settled, our books are Stripe's, and an account holds what its
// money says. In some of the runs Stripe tells nothing at all, and the cron finds it out as time goes by.

const db = createDb(env.DB);

const picked = fc.nat(5);
const share = fc.constantFrom(0.3, 0.5, 1, 1);
const told = fc.constantFrom(0, 1, 1, 2);
const does = fc.constantFrom<Behaviour | "die">("fail", "refuse", "stumble", "stumble", "lose", "die", "die");
const trouble = fc.option(fc.record({ does, after: fc.nat(4), refunds: fc.boolean() }), { nil: null });

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS, "buyMonthly", "buyMonthly", "month", "month", "cancelLater", "refund"),
  pick: picked,
  share,
  told,
  trouble,
});

type Kind = Step["kind"];

// What chance alone would seldom bring about: each with the last that was bought, without the cron coming in between.
const STORIES: Kind[][] = [
  ["buyMonthly", "refund", "month"],
  ["buyMonthly", "leave", "month"],
  ["buyMonthly", "cancelLater", "withdraw", "month", "month"],
  ["buyMonthly", "cancelLater", "revoke", "withdraw", "month"],
  ["buyMonthly", "month", "refund", "refundFails"],
  ["buyOnce", "refund", "refundFails", "refund"],
  ["buyGiven", "hour", "refundFails", "month"],
];

const story = fc.constantFrom(...STORIES).chain((kinds) => fc.tuple(...kinds.map(stepOf)));

function stepOf(kind: Kind): fc.Arbitrary<Step> {
  const pick = fc.constant(kind.startsWith("buy") ? 2 : 0);
  // Mostly without trouble, so that the story is told to its end; but what bought nothing is not taken back the first time.
  const refused = fc.constant({ does: "refuse" as const, after: 0, refunds: true });
  const smooth = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, trouble);
  return fc.record({ kind: fc.constant(kind), pick, share: fc.constant(1), told, trouble: kind === "hour" ? refused : smooth });
}

const mixed = fc.array(fc.oneof({ weight: 4, arbitrary: step.map((one) => [one]) }, story), { maxLength: 5 });
// A story at first finds nothing that would lead it astray.
const life = fc.oneof(fc.tuple(step, step, step), story).chain((first) => mixed.map((parts) => [...first, ...parts.flat()]));

let site: TestSite;
let resetClock = (): void => undefined;

beforeAll(async () => {
  site = await newSite();
  resetClock = ownClock();
});

afterAll(async () => {
  resetClock();
  await forgetDue();
});

// The clock goes far ahead: nothing else is to come due.
beforeEach(forgetDue);

function forgetDue() {
  return db.batch([db.update(charges).set({ due: null }), db.update(recurringSubscriptions).set({ due: null })]);
}

async function expectBooksToBalance(shopping: Shopping): Promise<void> {
  const { buyer } = shopping;
  const [rows, entitlements] = [await chargesOf(buyer), await entitlementsOf(buyer)];
  const over = new Set<string>();
  for (const charge of rows) await expectChargeToBalance(charge, shopping.isGone, over);
  for (const { id, status, stripeSubscriptionId } of await recurringOf(buyer)) {
    const there = stripe.books().subscriptions.get(stripeSubscriptionId);
    expect(status).toBe(there?.status === "canceled" ? "cancelled" : there?.scheduled ? "cancelScheduled" : "active");
    const invoices = [...stripe.books().invoices.values()].filter(({ subscription }) => subscription === stripeSubscriptionId);
    const booked = rows.filter((charge) => charge.recurringId === id).map(({ stripeInvoiceId }) => stripeInvoiceId);
    expect(booked.sort()).toEqual(invoices.map((one) => one.id).sort());
    if (status === "cancelled") over.add(`recurring/${id}`);
    // Nobody pays for what nobody holds.
    else expect(entitlements.filter(({ source }) => source === `recurring/${id}`).map((row) => row.status)).toContain(status);
  }
  const holding = entitlements.filter(({ status }) => status !== "cancelled");
  expect(new Set(holding.map(({ sku }) => sku)).size).toBe(holding.length);
  if (shopping.isGone) expect(holding).toEqual([]);
  const paid = rows.filter(({ status }) => status === "complete");
  for (const row of entitlements.filter(({ grantedMethod }) => grantedMethod === "purchased")) {
    const bought = paid.filter((charge) => sourceOf(charge) === row.source && isBoughtBy(charge, row));
    const current = bought.at(-1);
    expect(row.refunded).toBe(Math.min(current?.refunded ?? NaN, row.price));
    if (over.has(row.source ?? "")) expect(row.status).toBe("cancelled");
    else if (row.status === "cancelled" && !shopping.isGone && !bought.some(({ id }) => shopping.failedBack.has(id)))
      expect(shopping.revoked).toContain(row.sku);
  }
  // What was paid for was held, or the money went back.
  for (const charge of paid) {
    const bought = entitlements.some((row) => row.source === sourceOf(charge) && isBoughtBy(charge, row));
    expect(bought || charge.refunded === charge.amount).toBe(true);
  }
}

/** Whether what an entitlement says was still held when this was paid. */
function isBoughtBy({ created }: ChargeRow, { dateCancelled }: EntitlementRow): boolean {
  return dateCancelled === null || created < dateCancelled;
}

async function expectChargeToBalance(charge: ChargeRow, isGone: boolean, over: Set<string>): Promise<void> {
  // Whose address nobody ever got, and whose customer is forgotten: it can't be found, nor paid.
  const isLost = isGone && charge.stripeSessionId === null && charge.stripeInvoiceId === null;
  const page = isLost ? undefined : stripe.pageOf(charge.id);
  if (charge.stripeInvoiceId === null || page)
    expect(charge.status).toBe(page?.paid ? "complete" : page?.status === "open" ? "pending" : "declined");
  const ours = await refundRows(charge.id);
  const back = ours.filter(({ status }) => status === "complete").reduce((sum, { amount }) => sum + amount, 0);
  expect(ours.filter(({ status }) => status === "pending")).toEqual([]);
  expect({ refunded: charge.refunded, reserved: charge.reserved }).toEqual({ refunded: back, reserved: back });
  expect(back).toBeLessThanOrEqual(charge.amount);
  if (charge.status !== "complete") return;
  const intent = stripe.books().intents.get(charge.stripePaymentId ?? "");
  expect({ amount: charge.amount, refunded: back }).toEqual({ amount: intent?.amount, refunded: intent?.refunded });
  if (back === charge.amount && charge.recurringId === null) over.add(`charge/${charge.id}`);
}

test("money and entitlements agree with Stripe and with each other, whatever happened in between", async () => {
  await fc.assert(
    fc.asyncProperty(life, fc.boolean(), async (steps, silent) => {
      const shopping = new Shopping(site, await newBuyer(site), silent);
      for (const one of steps) await shopping.take(one);
      await settle(shopping);
      await expectBooksToBalance(shopping);
      // Or the next buyer's time would be theirs too.
      for (const one of await shopping.live()) one.status = "canceled";
      await forgetDue();
    }),
    { numRuns: 60, endOnFailure: true },
  );
});
