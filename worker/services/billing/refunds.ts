import { and, desc, eq, lt, or } from "drizzle-orm";
import { type ChargeRow, charges, type EntitlementRow, recurringSubscriptions, type RefundRow, refunds } from "#db/schema/index.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import { createRefund, listRefunds, type StripeRefund } from "#worker/integrations/stripe.ts";
import { asToldOutside, nextStep, type Step } from "#worker/services/subscriptions/entitlement-state.ts";
import { wonRace, conflict, Failure, notFound } from "#worker/lib/errors.ts";
import { ENDS_IN_ZERO, isPayable } from "#worker/lib/money.ts";
import { bookRefund, refundOf } from "./refund-rules.ts";
import { type ChargeResult, toRefund } from "./schemas.ts";
import { getCharge, sourceOf } from "./charges.ts";
import { whereVersion, batchAll, commitIfUnchanged, type Ctx, newRow, ownRow } from "#worker/services/core/context.ts";
import { findBySource } from "#worker/services/subscriptions/entitlements.ts";
import { eachEntitlement, stopRecurring } from "./recurring.ts";

const MINUTE = 60_000;
// A request for a refund has reached Stripe by then, or never will.
const NEVER_ASKED_AFTER = 10 * MINUTE;
const TRIES = 8;
// Later than any time.
const STILL_HELD = Number.MAX_SAFE_INTEGER;

/** Which money goes back: by its charge, or by the source of an entitlement, whose last charge is meant. */
export interface RefundInput {
  chargeId?: string;
  source?: string;
  /** Whose charge it must be. */
  accountId?: string;
  /** In minor units; all that is left when left out. */
  amount?: number | undefined;
  reason: "duplicate" | "fraudulent" | "requested_by_customer";
  /** Leaves what was bought with the buyer, also when all of the money has gone back. */
  keep?: boolean;
  /** Of `refundOnce`: this may have been asked for before, so that a refund which is done already counts too. */
  repeated?: boolean;
}

/**
 * Gives money back. The amount is reserved first, so that the refunds of a charge never exceed it, and is settled by what Stripe says,
 * at once or later. What was bought follows by itself: its `refunded`, and its end when all has gone back and `keep` isn't set.
 */
export async function refundCharge(ctx: Ctx, input: RefundInput): Promise<ChargeResult> {
  requireStripe(ctx.env);
  const reserved = await reserve(ctx, input, false);
  return "refusal" in reserved ? refused(reserved.refusal) : carryOut(ctx, reserved);
}

/**
 * The same for a call that is repeated until it succeeds: a refund of the same amount that is still open is brought to its end in place
 * of a second one, one that a `repeated` call made stands for it, and that all has gone back already is a success. `isNews`: it wasn't
 * answered with success before.
 */
export async function refundOnce(ctx: Ctx, input: RefundInput): Promise<ChargeResult & { isNews: boolean }> {
  requireStripe(ctx.env);
  const reserved = await reserve(ctx, input, true);
  if ("refusal" in reserved) {
    const isDone = reserved.isBack && input.amount === undefined;
    return { ...refused(reserved.refusal), ...(isDone && { success: true, errorMessage: null }), isNews: false };
  }
  const { refund } = reserved;
  if (refund.stripeRefundId !== null) return { ...toResult(refund, refund), isNews: false };
  return { ...(await carryOut(ctx, reserved)), isNews: true };
}

async function carryOut(ctx: Ctx, { charge, refund }: Reservation): Promise<ChargeResult> {
  try {
    const asked = await createRefund(ctx.env, charge.stripeAccount, {
      refundId: refund.id,
      amount: refund.amount,
      currency: charge.currency,
      paymentId: charge.stripePaymentId ?? "",
      reason: refund.reason ?? "requested_by_customer",
    });
    const settled: Settlement = asked.ok ? asked.value : { status: "declined", failure: asked.message };
    await settleRefund(ctx, charge.id, refund.id, settled);
    return toResult(refund, settled);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "unavailable") throw error;
    return toResult(refund, { status: "pending", failure: "Stripe has not confirmed the refund; it is settled as soon as it does" }, false);
  }
}

function refused(errorMessage: string): ChargeResult {
  return { success: false, errorMessage, refundId: null, status: null, amount: null };
}

function toResult(refund: RefundRow, { status, failure }: Settlement, success = status !== "declined"): ChargeResult {
  return { success, errorMessage: success ? null : failure, refundId: refund.id, status, amount: refund.amount };
}

type Settlement = Pick<RefundRow, "status" | "failure"> & { id?: string };

/** A refund that Stripe is to be asked for, as often as it takes. */
interface Reservation {
  charge: ChargeRow;
  refund: RefundRow;
}

async function reserve(ctx: Ctx, input: RefundInput, once: boolean): Promise<Reservation | { refusal: string; isBack: boolean }> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const charge = await findCharge(ctx, input);
    const same = once ? await findSame(ctx, charge, input) : undefined;
    if (same) return { charge, refund: same };
    if (input.amount !== undefined && !isPayable(input.amount, charge.currency)) return { refusal: ENDS_IN_ZERO, isBack: false };
    const rule = refundOf(charge, input.amount);
    if ("refusal" in rule) return { ...rule, isBack: charge.refunded === charge.amount };
    if (charge.stripePaymentId === null) return { refusal: "No money was moved for this charge", isBack: false };
    const { reason, keep = false } = input;
    const refund = newRefund(ctx, { chargeId: charge.id, amount: rule.amount, reason, keep });
    const next = { reserved: charge.reserved + rule.amount, due: ctx.now + MINUTE, modified: ctx.now, version: charge.version + 1 };
    const change = ctx.db
      .update(charges)
      .set(next)
      .where(whereVersion(ctx, charges, charge));
    const event = { type: "billing.refundRequested", resource: `charge/${charge.id}`, data: toRefund(refund) };
    if (await wonRace(() => commitIfUnchanged(ctx, [change, ctx.db.insert(refunds).values(refund)], event))) {
      return { charge: { ...charge, ...next }, refund };
    }
  }
  throw conflict("Too many refunds of this charge at the same time");
}

/** A refund that is what was asked for: of this amount or, without one, of all that was left; on its way or, of an amount, done already. */
async function findSame(ctx: Ctx, charge: ChargeRow, { amount, keep = false, repeated }: RefundInput): Promise<RefundRow | undefined> {
  if (amount === undefined && charge.reserved < charge.amount) return undefined;
  const isOpen = eq(refunds.status, "pending");
  const isDone = and(eq(refunds.status, "complete"), eq(refunds.keep, keep));
  const [same] = await ctx.db
    .select()
    .from(refunds)
    .where(
      and(
        eq(refunds.siteId, ctx.siteId),
        eq(refunds.chargeId, charge.id),
        repeated && amount !== undefined ? or(isOpen, isDone) : isOpen,
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
  const charge = kind === "recurring" ? await lastOf(ctx, id) : await getCharge(ctx, id);
  if (!charge || (accountId !== undefined && charge.accountId !== accountId)) throw notFound("Charge not found");
  return charge;
}

/** The last period of a recurring subscription that was paid, leaving aside what was paid after all that it bought had ended. */
async function lastOf(ctx: Ctx, recurringId: string): Promise<ChargeRow | undefined> {
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

/** Until when something was held that was bought with a source; undefined where nothing was. */
async function heldUntil(ctx: Ctx, source: string): Promise<number | undefined> {
  const bought = await findBySource(ctx, source);
  return bought.length === 0 ? undefined : Math.max(...bought.map(({ dateCancelled }) => dateCancelled ?? STILL_HELD));
}

/** Books what has become of a refund, once. Every change of a charge's refunds moves the charge's version, so that none is lost. */
async function settleRefund(ctx: Ctx, chargeId: string, refundId: string, { id, status, failure }: Settlement): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries++) {
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
    const known = refund.status === status && (id ?? null) === refund.stripeRefundId;
    if (known) return afterRefund(ctx, charge.id);
    const books = bookRefund(charge, refund.amount, refund.status, status);
    const stamps = { modified: ctx.now, version: charge.version + 1 };
    const change = ctx.db
      .update(charges)
      .set({ ...books, ...stamps, due: charge.due ?? ctx.now })
      .where(whereVersion(ctx, charges, charge));
    const settled: RefundRow = { ...refund, status, failure, stripeRefundId: id ?? refund.stripeRefundId, modified: ctx.now };
    const event = { type: EVENTS[status], resource: `charge/${chargeId}`, data: toRefund(settled) };
    const others = [ctx.db.update(refunds).set(settled).where(eq(refunds.id, refundId))];
    if (await wonRace(() => commitIfUnchanged(ctx, [change, ...others], event))) return afterRefund(ctx, charge.id);
  }
  throw conflict("Too many refunds of this charge at the same time");
}

const EVENTS = { complete: "billing.refunded", declined: "billing.refundDeclined", pending: "billing.refundPending" } as const;

/**
 * Lets what was bought follow the money of its current period: a period before that buys nothing any more. Safe to repeat. A refund that
 * fails after all makes the money owed again, and what was bought says so; what had ended with it stays ended, as it was meant to.
 */
async function afterRefund(ctx: Ctx, chargeId: string): Promise<void> {
  const charge = await getCharge(ctx, chargeId);
  await eachEntitlement(ctx, sourceOf(charge), async (row) => {
    const current = await currentOf(ctx, charge);
    if (!current) return undefined;
    const refunded = Math.min(current.refunded, row.price);
    if (refunded < row.refunded) return { step: asToldOutside(row.status, "entitlement_refunded"), refunded };
    const ends = await isOver(ctx, current);
    if (refunded > row.refunded) return { step: allowed(row, ends ? "refund" : "justRefund"), refunded };
    return { step: ends && row.status !== "cancelled" ? allowed(row, "cancel") : undefined };
  });
  const current = await currentOf(ctx, charge);
  if (current && current.recurringId !== null && (await isOver(ctx, current)))
    await batchAll(ctx.db, [stopRecurring(ctx, eq(recurringSubscriptions.id, current.recurringId))]);
}

/** The charge as it stands, unless a later period has taken its place. */
async function currentOf(ctx: Ctx, { id, recurringId }: Pick<ChargeRow, "id" | "recurringId">): Promise<ChargeRow | undefined> {
  const current = recurringId === null ? await getCharge(ctx, id) : await lastOf(ctx, recurringId);
  return current?.id === id ? current : undefined;
}

/** Whether all of the money has gone back, and with it what was bought. */
async function isOver(ctx: Ctx, { id, amount, refunded }: ChargeRow): Promise<boolean> {
  return refunded > 0 && refunded === amount && !(await isKept(ctx, id));
}

function allowed(row: EntitlementRow, transition: "cancel" | "refund" | "justRefund"): Step | undefined {
  const step = nextStep(row, transition);
  return step.allowed ? step : undefined;
}

/** Whether the last of the money went back with what was bought left to the buyer. */
async function isKept(ctx: Ctx, chargeId: string): Promise<boolean> {
  const [last] = await ctx.db
    .select({ keep: refunds.keep })
    .from(refunds)
    .where(and(eq(refunds.siteId, ctx.siteId), eq(refunds.chargeId, chargeId), eq(refunds.status, "complete")))
    .orderBy(desc(refunds.modified), desc(refunds.id))
    .limit(1);
  return last?.keep ?? false;
}

/** Asks Stripe what has gone back of a charge and books that, also what was refunded at Stripe itself. Safe to repeat, in any order. */
export async function syncRefunds(ctx: Ctx, charge: ChargeRow): Promise<void> {
  // No money was moved: there is nothing to ask about.
  if (charge.stripePaymentId === null) return askAgain(ctx, charge.id);
  const theirs = await listRefunds(ctx.env, charge.stripeAccount, charge.stripePaymentId);
  const ours = await ctx.db
    .select()
    .from(refunds)
    .where(and(eq(refunds.siteId, ctx.siteId), eq(refunds.chargeId, charge.id)));
  for (const refund of ours) {
    const found = theirs.find(({ id, refundId }) => refundId === refund.id || id === refund.stripeRefundId);
    if (found) await settleRefund(ctx, charge.id, refund.id, found);
    else if (refund.status === "pending" && ctx.now - refund.created > NEVER_ASKED_AFTER)
      await settleRefund(ctx, charge.id, refund.id, { status: "declined", failure: "The request never reached Stripe" });
  }
  for (const found of theirs) {
    if (!ours.some(({ id, stripeRefundId }) => id === found.refundId || stripeRefundId === found.id)) await adopt(ctx, charge.id, found);
  }
  const isOwed = await payBackUnused(ctx, charge.id);
  await afterRefund(ctx, charge.id);
  await askAgain(ctx, charge.id, isOwed);
}

/** Gives back what bought nothing, because the buyer held it already, held it no more when it was paid, or is gone. True while it is owed. */
async function payBackUnused(ctx: Ctx, chargeId: string): Promise<boolean> {
  const charge = await getCharge(ctx, chargeId);
  if (charge.status !== "complete" || charge.reserved === charge.amount) return false;
  const isBought = charge.created < ((await heldUntil(ctx, sourceOf(charge))) ?? 0);
  return !isBought && !(await refundCharge(ctx, { chargeId, reason: "duplicate" })).success;
}

/** Books a refund that was made at Stripe itself. */
async function adopt(ctx: Ctx, chargeId: string, found: StripeRefund): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const charge = await getCharge(ctx, chargeId);
    const refund: RefundRow = {
      ...newRefund(ctx, { chargeId, amount: found.amount, reason: null, keep: false }),
      status: found.status,
      failure: found.failure,
      stripeRefundId: found.id,
    };
    const books = bookRefund(charge, found.amount, "declined", found.status);
    // One of ours, not at Stripe yet, has reserved that money: it will arrive there in time, or never.
    if (books.reserved > charge.amount) throw new Failure("unavailable", "Another refund of this charge is yet to be settled");
    const change = ctx.db
      .update(charges)
      .set({ ...books, due: charge.due ?? ctx.now, modified: ctx.now, version: charge.version + 1 })
      .where(whereVersion(ctx, charges, charge));
    const event = { type: EVENTS[found.status], resource: `charge/${chargeId}`, data: toRefund(refund) };
    if (await wonRace(() => commitIfUnchanged(ctx, [change, ctx.db.insert(refunds).values(refund)], event))) return;
    const [known] = await ctx.db.select({ id: refunds.id }).from(refunds).where(eq(refunds.stripeRefundId, found.id));
    if (known) return;
  }
  throw conflict("Too many refunds of this charge at the same time");
}

/**
 * A charge is done with once Stripe was asked and nothing is on its way; what is, or is owed since Stripe refused to take it back, is
 * asked for again, ever more rarely.
 */
async function askAgain(ctx: Ctx, chargeId: string, isOwed = false): Promise<void> {
  const charge = await getCharge(ctx, chargeId);
  const isOpen = charge.reserved !== charge.refunded;
  if (charge.due === null || (charge.due > ctx.now && isOpen)) return;
  // Each try to give back what is owed modifies the charge.
  const since = isOwed ? charge.created : charge.modified;
  const wait = Math.max(MINUTE, Math.floor((ctx.now - since) / 4));
  await ctx.db
    .update(charges)
    .set({ due: isOpen || isOwed ? ctx.now + wait : null })
    .where(whereVersion(ctx, charges, charge));
}
