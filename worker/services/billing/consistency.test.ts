import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { type ChargeRow, charges, recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import type { EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { chargesOf, entitlementsOf, newBuyer, refundRows } from "#test/purchases.ts";
import { recurringOf, settleAll, BuyerSimulation } from "#test/buyer-simulation.ts";
import { KINDS, mockClock, type Step } from "#test/buyer-steps.ts";
import type { Behaviour } from "#test/stripe-server.ts";
import { stripe } from "#test/stripe-server.ts";
import { sourceOf } from "./charges.ts";
import { siteStore } from "#test/site-store.ts";
// Random purchases, refunds, cancellations, grants and revocations, with failing Stripe calls, lost or duplicate events, and crashes before
// our writes: once everything has settled, our records match Stripe's, and each account holds what it has paid for. In some runs Stripe
// sends no events at all, and the cron must find out.

const db = createDb(siteStore);

const picked = fc.nat(5);
const share = fc.constantFrom(0.3, 0.5, 1, 1);
const eventCopies = fc.constantFrom(0, 1, 1, 2);
const does = fc.constantFrom<Behaviour | "die">("fail", "reject", "failLate", "failLate", "loseResponse", "die", "die");
const failure = fc.option(fc.record({ does, after: fc.nat(4), refunds: fc.boolean() }), { nil: null });

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS, "buyMonthly", "buyMonthly", "month", "month", "cancelLater", "refund"),
  pick: picked,
  share,
  deliveries: eventCopies,
  failure,
});

type Kind = Step["kind"];

// Sequences that random steps would rarely produce; each acts on the last purchase, without the cron in between.
const STORIES: Kind[][] = [
  ["buyMonthly", "refund", "month"],
  ["buyMonthly", "leave", "month"],
  ["buyMonthly", "cancelLater", "withdraw", "month", "month"],
  ["buyMonthly", "cancelLater", "revoke", "withdraw", "month"],
  ["buyMonthly", "month", "refund", "refundFails"],
  ["buyOnce", "refund", "refundFails", "refund"],
  ["buyGranted", "hour", "refundFails", "month"],
];

const story = fc.constantFrom(...STORIES).chain((kinds) => fc.tuple(...kinds.map(stepOf)));

function stepOf(kind: Kind): fc.Arbitrary<Step> {
  const pick = fc.constant(kind.startsWith("buy") ? 2 : 0);
  // Mostly without failures, so that the story completes; but the first refund of an unused payment is rejected.
  const rejectedRefunds = fc.constant({ does: "reject" as const, after: 0, refunds: true });
  const smooth = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, failure);
  return fc.record({
    kind: fc.constant(kind),
    pick,
    share: fc.constant(1),
    deliveries: eventCopies,
    failure: kind === "hour" ? rejectedRefunds : smooth,
  });
}

const mixed = fc.array(fc.oneof({ weight: 4, arbitrary: step.map((one) => [one]) }, story), { maxLength: 5 });
// A story at the start isn't affected by earlier steps.
const life = fc.oneof(fc.tuple(step, step, step), story).chain((first) => mixed.map((parts) => [...first, ...parts.flat()]));

let site: TestSite;
let resetClock = (): void => undefined;

beforeAll(async () => {
  site = await newSite();
  resetClock = mockClock();
});

afterAll(async () => {
  resetClock();
  await clearDue();
});

// The clock jumps far ahead: nothing else may come due.
beforeEach(clearDue);

function clearDue() {
  return db.batch([db.update(charges).set({ due: null }), db.update(recurringSubscriptions).set({ due: null })]);
}

async function expectRecordsToMatch(simulation: BuyerSimulation): Promise<void> {
  const { buyer } = simulation;
  const [rows, entitlements] = [await chargesOf(buyer), await entitlementsOf(buyer)];
  const over = new Set<string>();
  for (const charge of rows) await expectChargeToMatch(charge, simulation.isDeleted, over);
  for (const { id, status, stripeSubscriptionId } of await recurringOf(buyer)) {
    const theirs = stripe.records().subscriptions.get(stripeSubscriptionId);
    expect(status).toBe(theirs?.status === "canceled" ? "cancelled" : theirs?.scheduled ? "cancelScheduled" : "active");
    const invoices = [...stripe.records().invoices.values()].filter(({ subscription }) => subscription === stripeSubscriptionId);
    const booked = rows.filter((charge) => charge.recurringId === id).map(({ stripeInvoiceId }) => stripeInvoiceId);
    expect(booked.sort()).toEqual(invoices.map((one) => one.id).sort());
    if (status === "cancelled") over.add(`recurring/${id}`);
    // Nobody pays for something that they don't hold.
    else expect(entitlements.filter(({ source }) => source === `recurring/${id}`).map((row) => row.status)).toContain(status);
  }
  const holding = entitlements.filter(({ status }) => status !== "cancelled");
  expect(new Set(holding.map(({ sku }) => sku)).size).toBe(holding.length);
  if (simulation.isDeleted) expect(holding).toEqual([]);
  const paid = rows.filter(({ status }) => status === "complete");
  for (const row of entitlements.filter(({ grantedMethod }) => grantedMethod === "purchased")) {
    const bought = paid.filter((charge) => sourceOf(charge) === row.source && isBoughtBy(charge, row));
    const current = bought.at(-1);
    expect(row.refunded).toBe(Math.min(current?.refunded ?? NaN, row.price));
    if (over.has(row.source ?? "")) expect(row.status).toBe("cancelled");
    else if (row.status === "cancelled" && !simulation.isDeleted && !bought.some(({ id }) => simulation.reversedRefunds.has(id)))
      expect(simulation.revoked).toContain(row.sku);
  }
  // Every payment granted something, or was refunded.
  for (const charge of paid) {
    const bought = entitlements.some((row) => row.source === sourceOf(charge) && isBoughtBy(charge, row));
    expect(bought || charge.refunded === charge.amount).toBe(true);
  }
}

/** Whether the entitlement was still held when this was paid. */
function isBoughtBy({ created }: ChargeRow, { dateCancelled }: EntitlementRow): boolean {
  return dateCancelled === null || created < dateCancelled;
}

async function expectChargeToMatch(charge: ChargeRow, isDeleted: boolean, over: Set<string>): Promise<void> {
  // A page whose URL was never returned, of a deleted customer, can't be found or paid.
  const isLost = isDeleted && charge.stripeSessionId === null && charge.stripeInvoiceId === null;
  const page = isLost ? undefined : stripe.checkoutSessionOf(charge.id);
  if (charge.stripeInvoiceId === null || page)
    expect(charge.status).toBe(page?.paid ? "complete" : page?.status === "open" ? "pending" : "declined");
  const ours = await refundRows(charge.id);
  const back = ours.filter(({ status }) => status === "complete").reduce((sum, { amount }) => sum + amount, 0);
  expect(ours.filter(({ status }) => status === "pending")).toEqual([]);
  expect({ refunded: charge.refunded, reserved: charge.reserved }).toEqual({ refunded: back, reserved: back });
  expect(back).toBeLessThanOrEqual(charge.amount);
  if (charge.status !== "complete") return;
  const intent = stripe.records().intents.get(charge.stripePaymentId ?? "");
  expect({ amount: charge.amount, refunded: back }).toEqual({ amount: intent?.amount, refunded: intent?.refunded });
  if (back === charge.amount && charge.recurringId === null) over.add(`charge/${charge.id}`);
}

test("charges and entitlements agree with Stripe and with each other after any sequence of purchases and failures", async () => {
  await fc.assert(
    fc.asyncProperty(life, fc.boolean(), async (steps, silent) => {
      const simulation = new BuyerSimulation(site, await newBuyer(site), silent);
      for (const one of steps) await simulation.run(one);
      await settleAll(simulation);
      await expectRecordsToMatch(simulation);
      // Otherwise the next run's clock would affect them too.
      for (const one of await simulation.active()) one.status = "canceled";
      await clearDue();
    }),
    { numRuns: 60, endOnFailure: true },
  );
});
