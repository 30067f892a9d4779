import { and, desc, eq, lt, or } from "drizzle-orm";
import { type ChargeRow, charges, recurringSubscriptions, type RefundRow, refunds } from "#db/schema/commerce/billing.ts";
import type { EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import { createRefund, listRefunds, type StripeRefund } from "#worker/integrations/stripe.ts";
import { externalStep, nextStep, type Step } from "#worker/services/subscriptions/entitlement-state.ts";
import { wonRace, conflict, Failure, notFound } from "#worker/lib/errors.ts";
import { ENDS_IN_ZERO, isPayable } from "#worker/lib/money.ts";
import { bookRefund, refundOf } from "./refund-rules.ts";
import { type ChargeResult, toRefund } from "./schemas.ts";
import { getCharge, sourceOf } from "./charges.ts";
import {
  batchAll,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  ownRow,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { findBySource } from "#worker/services/subscriptions/entitlements.ts";
import { eachEntitlement, stopRecurring } from "./recurring.ts";

const MINUTE = 60_000;
// By then, a request for a refund has reached Stripe, or it never will: the Worker was stopped, or Stripe was down.
const LOST_AFTER = 2 * MINUTE;
const MAX_ATTEMPTS = 8;
// Later than any timestamp.
const STILL_HELD = Number.MAX_SAFE_INTEGER;

/** What to refund: a charge, or the last charge of an entitlement's source. */
export interface RefundInput {
  chargeId?: string;
  source?: string;
  /** The account that the charge must belong to. */
  accountId?: string;
  /** In minor units; everything left if omitted. */
  amount?: number | undefined;
  reason: "duplicate" | "fraudulent" | "requested_by_customer";
  /** The buyer keeps the entitlements even after a full refund. */
  keep?: boolean;
  /** For `refundOnce`: the call may be a repeat, so a completed refund counts too. */
  repeated?: boolean;
}

/**
 * Refunds a charge. The amount is reserved first, so that refunds never exceed the charge, and settled by Stripe's response, now or later.
 * The entitlements follow: their `refunded`, and their end after a full refund unless `keep` is set.
 */
export async function refundCharge(ctx: Ctx, input: RefundInput): Promise<ChargeResult> {
  requireStripe(ctx.env);
  const reserved = await reserve(ctx, input, false);
  return "rejection" in reserved ? rejected(reserved.rejection) : executeRefund(ctx, reserved);
}

/**
 * Like `refundCharge`, for a caller that repeats the call until it succeeds: completes a pending refund of the same amount instead of
 * starting a second one, accepts the refund of an earlier call if `repeated`, and treats a fully refunded charge as success. `isNewRefund` is
 * false if an earlier call has already succeeded.
 */
export async function refundOnce(ctx: Ctx, input: RefundInput): Promise<ChargeResult & { isNewRefund: boolean }> {
  requireStripe(ctx.env);
  const reserved = await reserve(ctx, input, true);
  if ("rejection" in reserved) {
    const alreadyRefunded = reserved.fullyRefunded && input.amount === undefined;
    return { ...rejected(reserved.rejection), ...(alreadyRefunded && { success: true, errorMessage: null }), isNewRefund: false };
  }
  const { refund } = reserved;
  if (refund.stripeRefundId !== null) return { ...toResult(refund, refund), isNewRefund: false };
  return { ...(await executeRefund(ctx, reserved)), isNewRefund: true };
}

async function executeRefund(ctx: Ctx, reservation: Reservation): Promise<ChargeResult> {
  const { refund } = reservation;
  try {
    return toResult(refund, await requestRefund(ctx, reservation));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unavailable") throw error;
    return toResult(
      refund,
      { status: "pending", failure: "Stripe has not confirmed the refund yet; it is settled as soon as it does" },
      false,
    );
  }
}

/** Requests a reserved refund at Stripe and records the outcome. Safe to repeat: Stripe knows it by our id. */
async function requestRefund(ctx: Ctx, { charge, refund }: Reservation): Promise<Settlement> {
  const response = await createRefund(ctx.env, charge.stripeAccount, {
    refundId: refund.id,
    amount: refund.amount,
    currency: charge.currency,
    paymentId: charge.stripePaymentId ?? "",
    reason: refund.reason ?? "requested_by_customer",
  });
  const settled: Settlement = response.ok ? response.value : { status: "declined", failure: response.message };
  await settleRefund(ctx, charge.id, refund.id, settled);
  return settled;
}

function rejected(errorMessage: string): ChargeResult {
  return { success: false, errorMessage, refundId: null, status: null, amount: null };
}

function toResult(refund: RefundRow, { status, failure }: Settlement, success = status !== "declined"): ChargeResult {
  return { success, errorMessage: success ? null : failure, refundId: refund.id, status, amount: refund.amount };
}

type Settlement = Pick<RefundRow, "status" | "failure"> & { id?: string };

/** A reserved refund that is to be requested at Stripe. */
interface Reservation {
  charge: ChargeRow;
  refund: RefundRow;
}

async function reserve(ctx: Ctx, input: RefundInput, once: boolean): Promise<Reservation | { rejection: string; fullyRefunded: boolean }> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const charge = await findCharge(ctx, input);
    const same = once ? await findSame(ctx, charge, input) : undefined;
    if (same) return { charge, refund: same };
    if (input.amount !== undefined && !isPayable(input.amount, charge.currency)) return { rejection: ENDS_IN_ZERO, fullyRefunded: false };
    const rule = refundOf(charge, input.amount);
    if ("rejection" in rule) return { ...rule, fullyRefunded: charge.refunded === charge.amount };
    if (charge.stripePaymentId === null) return { rejection: "No money was moved for this charge", fullyRefunded: false };
    const { reason, keep = false } = input;
    const refund = newRefund(ctx, { chargeId: charge.id, amount: rule.amount, reason, keep });
    const next = { reserved: charge.reserved + rule.amount, due: ctx.now + MINUTE, modified: ctx.now, version: charge.version + 1 };
    const change = updateRow(ctx, charges, charge, next);
    const event: NewEvent<"billing.refundRequested"> = {
      type: "billing.refundRequested",
      resource: `charge/${charge.id}`,
      data: toRefund(refund),
    };
    if (await wonRace(() => commitIfUnchanged(ctx, [change, ctx.db.insert(refunds).values(refund)], event))) {
      return { charge: { ...charge, ...next }, refund };
    }
  }
  throw conflict("The charge's refunds are changing too often; try again");
}

/** An existing refund that matches the request: of this amount, or of everything left; pending or, with an amount, already complete. */
async function findSame(ctx: Ctx, charge: ChargeRow, { amount, keep = false, repeated }: RefundInput): Promise<RefundRow | undefined> {
  if (amount === undefined && charge.reserved < charge.amount) return undefined;
  const isOpen = eq(refunds.status, "pending");
  const isComplete = and(eq(refunds.status, "complete"), eq(refunds.keep, keep));
  const [same] = await ctx.db
    .select()
    .from(refunds)
    .where(
      and(
        eq(refunds.siteId, ctx.siteId),
        eq(refunds.chargeId, charge.id),
        repeated && amount !== undefined ? or(isOpen, isComplete) : isOpen,
        amount === undefined ? undefined : eq(refunds.amount, amount),
      ),
    )
    .orderBy(desc(refunds.created), desc(refunds.id))
    .limit(1);
  return same;
}

function newRefund(ctx: Ctx, of: Pick<RefundRow, "chargeId" | "amount" | "reason" | "keep">): RefundRow {
  return { ...newRow(ctx), ...of, status: "pending", failure: null, stripeRefundId: null };
}

async function findCharge(ctx: Ctx, { chargeId, source, accountId }: RefundInput): Promise<ChargeRow> {
  const [kind, id = ""] = source?.split("/") ?? ["charge", chargeId];
  const charge = kind === "recurring" ? await lastPaidPeriod(ctx, id) : await getCharge(ctx, id);
  if (!charge || (accountId !== undefined && charge.accountId !== accountId)) throw notFound("Charge not found");
  return charge;
}

/** The last paid period of a recurring subscription, ignoring payments after its entitlements had ended. */
async function lastPaidPeriod(ctx: Ctx, recurringId: string): Promise<ChargeRow | undefined> {
  const until = (await heldUntil(ctx, `recurring/${recurringId}`)) ?? STILL_HELD;
  const [last] = await ctx.db
    .select()
    .from(charges)
    .where(
      and(eq(charges.siteId, ctx.siteId), eq(charges.recurringId, recurringId), eq(charges.status, "complete"), lt(charges.created, until)),
    )
    .orderBy(desc(charges.created), desc(charges.id))
    .limit(1);
  return last;
}

/** Until when the last entitlement of a source was held; undefined if there was none. */
async function heldUntil(ctx: Ctx, source: string): Promise<number | undefined> {
  const bought = await findBySource(ctx, source);
  return bought.length === 0 ? undefined : Math.max(...bought.map(({ dateCancelled }) => dateCancelled ?? STILL_HELD));
}

/** Records the outcome of a refund once. Every change of a charge's refunds increments the charge's version, so that none is lost. */
async function settleRefund(ctx: Ctx, chargeId: string, refundId: string, { id, status, failure }: Settlement): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const [[charge], [refund]] = await ctx.db.batch([
      ctx.db
        .select()
        .from(charges)
        .where(ownRow(ctx, charges, chargeId)),
      ctx.db
        .select()
        .from(refunds)
        .where(ownRow(ctx, refunds, refundId)),
    ]);
    if (!charge || !refund) throw notFound("Refund not found");
    const isRecorded = refund.status === status && (id ?? null) === refund.stripeRefundId;
    if (isRecorded) return afterRefund(ctx, charge.id);
    const totals = bookRefund(charge, refund.amount, refund.status, status);
    const stamps = { modified: ctx.now, version: charge.version + 1 };
    const change = ctx.db
      .update(charges)
      .set({ ...totals, ...stamps, due: charge.due ?? ctx.now })
      .where(whereVersion(ctx, charges, charge));
    const settled: RefundRow = { ...refund, status, failure, stripeRefundId: id ?? refund.stripeRefundId, modified: ctx.now };
    const event = { type: EVENTS[status], resource: `charge/${chargeId}`, data: toRefund(settled) };
    const others = [ctx.db.update(refunds).set(settled).where(eq(refunds.id, refundId))];
    if (await wonRace(() => commitIfUnchanged(ctx, [change, ...others], event))) return afterRefund(ctx, charge.id);
  }
  throw conflict("The charge's refunds are changing too often; try again");
}

const EVENTS = { complete: "billing.refunded", declined: "billing.refundDeclined", pending: "billing.refundPending" } as const;

/**
 * Updates the entitlements to the refunds of their current period; earlier periods don't matter any more. Safe to repeat. If a refund
 * fails later, `refunded` is reduced, but an entitlement that ended with it stays ended.
 */
async function afterRefund(ctx: Ctx, chargeId: string): Promise<void> {
  const charge = await getCharge(ctx, chargeId);
  await eachEntitlement(ctx, sourceOf(charge), async (row) => {
    const current = await ifCurrent(ctx, charge);
    if (!current) return undefined;
    const refunded = Math.min(current.refunded, row.price);
    if (refunded < row.refunded) return { step: externalStep(row.status, "entitlement_refunded"), refunded };
    const ends = await isFullyRefunded(ctx, current);
    if (refunded > row.refunded) return { step: allowed(row, ends ? "refund" : "justRefund"), refunded };
    return { step: ends && row.status !== "cancelled" ? allowed(row, "cancel") : undefined };
  });
  const current = await ifCurrent(ctx, charge);
  if (current && current.recurringId !== null && (await isFullyRefunded(ctx, current)))
    await batchAll(ctx.db, [stopRecurring(ctx, eq(recurringSubscriptions.id, current.recurringId))]);
}

/** The charge's current row, unless a later period has replaced it. */
async function ifCurrent(ctx: Ctx, { id, recurringId }: Pick<ChargeRow, "id" | "recurringId">): Promise<ChargeRow | undefined> {
  const current = recurringId === null ? await getCharge(ctx, id) : await lastPaidPeriod(ctx, recurringId);
  return current?.id === id ? current : undefined;
}

/** Whether the charge is fully refunded and its entitlements are to end. */
async function isFullyRefunded(ctx: Ctx, { id, amount, refunded }: ChargeRow): Promise<boolean> {
  return refunded > 0 && refunded === amount && !(await isKept(ctx, id));
}

function allowed(row: EntitlementRow, transition: "cancel" | "refund" | "justRefund"): Step | undefined {
  const step = nextStep(row, transition);
  return step.allowed ? step : undefined;
}

/** Whether the last refund lets the buyer keep the entitlements. */
async function isKept(ctx: Ctx, chargeId: string): Promise<boolean> {
  const [last] = await ctx.db
    .select({ keep: refunds.keep })
    .from(refunds)
    .where(and(eq(refunds.siteId, ctx.siteId), eq(refunds.chargeId, chargeId), eq(refunds.status, "complete")))
    .orderBy(desc(refunds.modified), desc(refunds.id))
    .limit(1);
  return last?.keep ?? false;
}

/**
 * Syncs a charge's refunds with Stripe, including those created at Stripe itself, and requests again what never reached it. Safe to repeat, in
 * any order.
 */
export async function syncRefunds(ctx: Ctx, charge: ChargeRow): Promise<void> {
  // No money was moved, so Stripe has nothing to report.
  if (charge.stripePaymentId === null) return scheduleCheck(ctx, charge.id);
  const theirs = await listRefunds(ctx.env, charge.stripeAccount, charge.stripePaymentId);
  const ours = await ctx.db
    .select()
    .from(refunds)
    .where(and(eq(refunds.siteId, ctx.siteId), eq(refunds.chargeId, charge.id)));
  for (const refund of ours) {
    const found = theirs.find(({ id, refundId }) => refundId === refund.id || id === refund.stripeRefundId);
    if (found) await settleRefund(ctx, charge.id, refund.id, found);
    else if (refund.status === "pending" && ctx.now - refund.created > LOST_AFTER) await requestRefund(ctx, { charge, refund });
  }
  for (const found of theirs) {
    if (!ours.some(({ id, stripeRefundId }) => id === found.refundId || stripeRefundId === found.id))
      await recordExternal(ctx, charge.id, found);
  }
  const isOwed = await refundUnused(ctx, charge.id);
  await afterRefund(ctx, charge.id);
  await scheduleCheck(ctx, charge.id, isOwed);
}

/** Refunds a payment that bought nothing: already held, no longer held when it was paid, or the account was deleted. True while still owed. */
async function refundUnused(ctx: Ctx, chargeId: string): Promise<boolean> {
  const charge = await getCharge(ctx, chargeId);
  if (charge.status !== "complete" || charge.reserved === charge.amount || charge.itemType === "donation") return false;
  const isBought = charge.created < ((await heldUntil(ctx, sourceOf(charge))) ?? 0);
  return !isBought && !(await refundCharge(ctx, { chargeId, reason: "duplicate" })).success;
}

/** Records a refund that was created at Stripe itself. */
async function recordExternal(ctx: Ctx, chargeId: string, found: StripeRefund): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    // The charge first: recording the same refund concurrently after this changes its version, so that our write loses.
    const charge = await getCharge(ctx, chargeId);
    const [existing] = await ctx.db.select({ id: refunds.id }).from(refunds).where(eq(refunds.stripeRefundId, found.id));
    if (existing) return;
    const refund: RefundRow = {
      ...newRefund(ctx, { chargeId, amount: found.amount, reason: null, keep: false }),
      status: found.status,
      failure: found.failure,
      stripeRefundId: found.id,
    };
    const totals = bookRefund(charge, found.amount, "declined", found.status);
    // One of our own refunds, not at Stripe yet, has reserved that money: wait until it gets there or is given up.
    if (totals.reserved > charge.amount) throw new Failure("unavailable", "Another refund of this charge isn't settled yet");
    const change = ctx.db
      .update(charges)
      .set({ ...totals, due: charge.due ?? ctx.now, modified: ctx.now, version: charge.version + 1 })
      .where(whereVersion(ctx, charges, charge));
    const event = { type: EVENTS[found.status], resource: `charge/${chargeId}`, data: toRefund(refund) };
    if (await wonRace(() => commitIfUnchanged(ctx, [change, ctx.db.insert(refunds).values(refund)], event))) return;
  }
  throw conflict("The charge's refunds are changing too often; try again");
}

/**
 * A charge needs no further checks once nothing is pending. Pending refunds, and refunds that Stripe rejected but that we owe, are
 * checked again at increasing intervals.
 */
async function scheduleCheck(ctx: Ctx, chargeId: string, isOwed = false): Promise<void> {
  const charge = await getCharge(ctx, chargeId);
  const isOpen = charge.reserved !== charge.refunded;
  if (charge.due === null || (charge.due > ctx.now && isOpen)) return;
  // Each attempt to refund what is owed modifies the charge.
  const since = isOwed ? charge.created : charge.modified;
  const wait = Math.max(MINUTE, Math.floor((ctx.now - since) / 4));
  await ctx.db
    .update(charges)
    .set({ due: isOpen || isOwed ? ctx.now + wait : null })
    .where(whereVersion(ctx, charges, charge));
}
