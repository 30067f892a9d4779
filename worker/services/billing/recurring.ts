import { and, desc, eq, isNull, ne, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type ChargeRow, charges, type RecurringRow, recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import type { EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import {
  cancelSubscription,
  listPaidInvoices,
  type PaidInvoice,
  readSubscription,
  type StripeSubscription,
} from "#worker/integrations/stripe.ts";
import { externalStep, nextStep, type Step } from "#worker/services/subscriptions/entitlement-state.ts";
import { wonRace, conflict, Failure, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { newReceiptNumber } from "./receipt-number.ts";
import { toRecurring } from "#worker/services/wallets/schemas.ts";
import { chargeEvent, hasAccount } from "./charges.ts";
import { batchAll, commitIfUnchanged, type Ctx, type NewEvent, newRow, ownRow, whereVersion } from "#worker/services/core/context.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { findBySource, planRenewal, planStep } from "#worker/services/subscriptions/entitlements.ts";

const MAX_ATTEMPTS = 5;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// Stripe charges for a period about an hour after it starts.
const PAID_WITHIN = 3 * HOUR;

/** The outcome of cancelling a recurring subscription. */
export type Cancellation = { success: true } | { success: false; message: string };

export async function getRecurring(ctx: Ctx, id: string): Promise<RecurringRow> {
  const [recurring] = await ctx.db
    .select()
    .from(recurringSubscriptions)
    .where(ownRow(ctx, recurringSubscriptions, id));
  if (!recurring) throw notFound("Recurring subscription not found");
  return recurring;
}

/** An account's current and former recurring subscriptions, newest first. */
export async function recurringOf(ctx: Ctx, accountId: string): Promise<RecurringRow[]> {
  return ctx.db
    .select()
    .from(recurringSubscriptions)
    .where(and(eq(recurringSubscriptions.siteId, ctx.siteId), eq(recurringSubscriptions.accountId, accountId)))
    .orderBy(desc(recurringSubscriptions.created), desc(recurringSubscriptions.id));
}

/**
 * Cancels a recurring subscription at Stripe, immediately or at the end of the paid period, and its entitlements. Safe to repeat.
 * `source` is that of an entitlement, "recurring/<id>". Throws `unavailable` if Stripe's response is unknown: call again.
 */
export async function cancelRecurring(
  ctx: Ctx,
  { source, when }: { source: string; when: "immediate" | "endOfBilling" },
): Promise<Cancellation> {
  const recurring = await getRecurring(ctx, source.replace(/^recurring\//, ""));
  if (recurring.dateDetached !== null) {
    return { success: false, message: "The site's Stripe account is disconnected; end the payments at Stripe" };
  }
  if (recurring.status === "cancelled" || (recurring.status === "cancelScheduled" && when === "endOfBilling")) return { success: true };
  const { stripeAccount, stripeSubscriptionId } = recurring;
  // Check before writing: only Stripe can complete what is written.
  requireStripe(ctx.env);
  const pending = await markCancelling(ctx, recurring, when);
  const outcome = await cancelSubscription(ctx.env, stripeAccount, stripeSubscriptionId, when);
  if (!outcome.ok) {
    await unmarkCancelling(ctx, pending, recurring.stopping);
    return { success: false, message: outcome.missing ? "Stripe Subscription not found" : outcome.message };
  }
  await record(ctx, pending, outcome.value);
  return { success: true };
}

/** Stored before the call to Stripe, so that the cron completes the cancellation after a crash. */
async function markCancelling(ctx: Ctx, recurring: RecurringRow, when: "immediate" | "endOfBilling"): Promise<RecurringRow> {
  const due = ctx.now + MINUTE;
  if (when === "immediate") {
    await batchAll(ctx.db, [stopRecurring(ctx, eq(recurringSubscriptions.id, recurring.id), due)]);
    return { ...recurring, stopping: true, due, version: recurring.version + 1 };
  }
  await ctx.db
    .update(recurringSubscriptions)
    .set({ due })
    .where(ownRow(ctx, recurringSubscriptions, recurring.id));
  return { ...recurring, due };
}

/** Reverts the mark after Stripe rejected the cancellation, unless the row has changed since. */
async function unmarkCancelling(ctx: Ctx, pending: RecurringRow, stopping: boolean): Promise<void> {
  await ctx.db
    .update(recurringSubscriptions)
    .set({ stopping })
    .where(whereVersion(ctx, recurringSubscriptions, pending));
}

/** Syncs a recurring subscription with Stripe (or ends it there): paid periods and cancellations. Safe to repeat, in any order. */
export async function syncRecurring(ctx: Ctx, recurring: RecurringRow): Promise<void> {
  if (recurring.dateDetached !== null) return;
  await record(ctx, recurring, await fetchState(ctx, recurring));
}

async function fetchState(ctx: Ctx, recurring: RecurringRow): Promise<StripeSubscription> {
  const { stripeAccount, stripeSubscriptionId: id } = recurring;
  const mustEnd = recurring.stopping || !(await hasAccount(ctx, recurring.accountId));
  const found = mustEnd
    ? await cancelSubscription(ctx.env, stripeAccount, id, "immediate")
    : await readSubscription(ctx.env, stripeAccount, id);
  if (!found.ok && !found.missing) throw new Failure("unavailable", `Stripe returned an error: ${found.message}`);
  const missing: StripeSubscription = { id, status: "cancelled", pastDue: false, unpaid: false, currentPeriodEnd: null };
  return found.ok ? found.value : missing;
}

async function record(ctx: Ctx, recurring: RecurringRow, state: StripeSubscription): Promise<void> {
  const invoices = await listPaidInvoices(ctx.env, recurring.stripeAccount, recurring.stripeSubscriptionId);
  for (const invoice of invoices) await recordPeriod(ctx, recurring, invoice, invoice === invoices.at(-1) ? state.currentPeriodEnd : null);
  await applyState(ctx, recurring, state, invoices.findLast(({ amount }) => amount > 0)?.amount);
}

/** Stops recurring payments permanently: the cron retries at Stripe until it succeeds. */
export function stopRecurring(ctx: Ctx, where: ReturnType<typeof and>, due = ctx.now): BatchItem<"sqlite"> {
  return ctx.db
    .update(recurringSubscriptions)
    .set({ stopping: true, due, version: sql`${recurringSubscriptions.version} + 1` })
    .where(and(eq(recurringSubscriptions.siteId, ctx.siteId), isOpen(), where));
}

/** Recurring subscriptions that continue and whose Stripe account is connected. */
function isOpen() {
  return and(ne(recurringSubscriptions.status, "cancelled"), isNull(recurringSubscriptions.dateDetached));
}

/**
 * Marks the recurring subscriptions of a disconnected Stripe account, with an event for each: buyers continue to pay at Stripe, where only
 * the account's owner can end that.
 */
export async function detachRecurring(ctx: Ctx, stripeAccount: string): Promise<BatchItem<"sqlite">[]> {
  const where = and(eq(recurringSubscriptions.siteId, ctx.siteId), eq(recurringSubscriptions.stripeAccount, stripeAccount), isOpen());
  const { id, siteId, accountId, itemId, description, skus, status, pastDue, amount, currency, recurrence, ...rest } =
    recurringSubscriptions;
  const { currentPeriodEnd, dateCancelled, created, version } = rest;
  const data = {
    ...{ _id: id, siteId, accountId, itemId, name: description, skus: sql`json(${skus})`, status },
    ...{ pastDue: sql`json(iif(${pastDue}, 'true', 'false'))`, amount, currency, recurrence: sql`coalesce(${recurrence}, 'month')` },
    ...{ currentPeriodEnd, dateCancelled, dateDetached: sql`${ctx.now}`, created, modified: sql`${ctx.now}` },
  };
  const eventInsert = insertEventsForRows(ctx, await ctx.caller(), {
    ...{ type: "billing.recurringUpdated", area: "recurring", table: recurringSubscriptions, where, data },
  });
  const mark = ctx.db
    .update(recurringSubscriptions)
    .set({ dateDetached: ctx.now, due: null, modified: ctx.now, version: sql`${version} + 1` })
    .where(where);
  return [eventInsert, mark];
}

/** Stops all recurring payments of an account that is being deleted. */
export function stopAccountPayments(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return stopRecurring(ctx, eq(recurringSubscriptions.accountId, accountId));
}

/** Records a paid period once; the last one extends the entitlement. The first period is recorded with its checkout, by invoice id. */
async function recordPeriod(ctx: Ctx, recurring: RecurringRow, invoice: PaidInvoice, dateEnds: number | null): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const [existing] = await ctx.db.select({ id: charges.id }).from(charges).where(eq(charges.stripeInvoiceId, invoice.id));
    if (existing) return;
    const row = chargeOf(ctx, recurring, invoice);
    const renewed =
      dateEnds === null
        ? { changes: [], events: [] }
        : await planRenewal(ctx, `recurring/${recurring.id}`, { dateEnds, price: invoice.amount });
    // The entitlement's update comes first, since the commit depends on it; a recurring subscription has one sku.
    const changes = [...renewed.changes, ctx.db.insert(charges).values(row)];
    const write = () => commitIfUnchanged(ctx, changes, chargeEvent("chargeCompleted", row), ...renewed.events);
    if (await wonRace(() => rejectDuplicate("charges.stripe_invoice_id", "This period is already recorded", write))) return;
  }
  throw conflict("The entitlements are changing too often; try again");
}

function chargeOf(ctx: Ctx, recurring: RecurringRow, invoice: PaidInvoice): ChargeRow {
  const { siteId, accountId, itemType, itemId, description, skus, recurrence, stripeAccount, id: recurringId } = recurring;
  return {
    ...newRow({ ...ctx, siteId }),
    created: invoice.paid,
    accountId,
    itemType,
    itemId,
    description,
    skus,
    recurrence,
    stripeAccount,
    amount: invoice.amount,
    currency: invoice.currency,
    status: "complete",
    reserved: 0,
    refunded: 0,
    receiptNumber: newReceiptNumber(ctx.now),
    failure: null,
    recurringId,
    stripeSessionId: null,
    stripePaymentId: invoice.paymentId,
    stripeInvoiceId: invoice.id,
    // Stripe may have reported a refund before this payment was recorded.
    due: ctx.now,
  };
}

/** Stores Stripe's state and updates the entitlements. If the row has changed since `read`, fetches the state again. */
async function applyState(ctx: Ctx, read: RecurringRow, fetched: StripeSubscription, lastPaid = read.amount): Promise<void> {
  const { id } = read;
  let [version, state] = [read.version, fetched];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const current = await getRecurring(ctx, id);
    if (current.version !== version) [version, state] = [current.version, await fetchState(ctx, current)];
    // A cancelled subscription stays cancelled, even if an older response arrives late.
    const status = current.status === "cancelled" ? "cancelled" : state.status;
    const next: RecurringRow = {
      ...current,
      status,
      amount: lastPaid,
      pastDue: state.pastDue && status !== "cancelled",
      currentPeriodEnd: state.currentPeriodEnd ?? current.currentPeriodEnd,
      dateCancelled: status === "active" ? null : (current.dateCancelled ?? ctx.now),
      // If it is cancelled here, it must end at Stripe too.
      stopping: status === "cancelled" ? state.unpaid : current.stopping,
    };
    await alignEntitlements(ctx, next);
    // If the entitlement was refunded or revoked, stop charging for it.
    if (status !== "cancelled" && !(await isHeld(ctx, id))) next.stopping = true;
    const unchanged = (["status", "amount", "pastDue", "currentPeriodEnd"] as const).every((field) => next[field] === current[field]);
    // Only now that the entitlements are updated; an earlier due time stays.
    const earlier = unchanged && current.due !== null && current.due > ctx.now ? current.due : Infinity;
    const nextDue = nextCheck(ctx, next, current);
    const due = nextDue && Math.min(nextDue, earlier);
    const stamps = { due, modified: unchanged ? current.modified : ctx.now, version: current.version + 1 };
    const change = ctx.db
      .update(recurringSubscriptions)
      .set({ ...next, ...stamps })
      .where(whereVersion(ctx, recurringSubscriptions, current));
    if (unchanged) {
      const written = await change.returning({ id: recurringSubscriptions.id });
      if (written.length > 0) return;
      continue;
    }
    const event: NewEvent<"billing.recurringUpdated"> = {
      type: "billing.recurringUpdated",
      resource: `recurring/${id}`,
      data: toRecurring({ ...next, ...stamps }),
    };
    if (await wonRace(() => commitIfUnchanged(ctx, change, event))) return;
  }
  throw conflict("The recurring subscription is changing too often; try again");
}

/** When to check with Stripe again if no event arrives before. */
function nextCheck({ now }: Ctx, next: RecurringRow, { currentPeriodEnd: before }: RecurringRow): number | null {
  if (next.stopping) return now + MINUTE;
  if (next.status === "cancelled") return null;
  const end = next.currentPeriodEnd;
  if (next.status === "cancelScheduled" && end !== null) return Math.min(now + DAY, Math.max(now + MINUTE, end));
  if (end === null || next.pastDue || next.status === "cancelScheduled") return now + DAY;
  // A period that has just started isn't paid yet.
  return (end === before ? Math.max(now, end) : now) + PAID_WITHIN;
}

/** Aligns each entitlement with the state of its payments. */
async function alignEntitlements(ctx: Ctx, { id, status, currentPeriodEnd }: RecurringRow): Promise<void> {
  await eachEntitlement(ctx, `recurring/${id}`, (row) => {
    // The end may be that of a newer period, or an earlier date set at Stripe.
    const dateEnds = (status === "cancelScheduled" ? currentPeriodEnd : null) ?? row.dateEnds;
    const isScheduled = row.status === "cancelScheduled";
    const isDue = status === "cancelScheduled" && isScheduled && dateEnds !== null && dateEnds <= ctx.now;
    if (isDue) return { step: stepOf(row, "expire") };
    if (row.status === "cancelled" || (row.status === status && row.dateEnds === dateEnds)) return undefined;
    if (status === "cancelled") return { step: stepOf(row, isScheduled ? "expire" : "cancel") };
    if (status === "cancelScheduled") return { step: stepOf({ ...row, dateEnds }, isScheduled ? "renew" : "scheduleCancel"), dateEnds };
    return { step: externalStep(status, "entitlement_renewed") };
  });
}

async function isHeld(ctx: Ctx, id: string): Promise<boolean> {
  return (await findBySource(ctx, `recurring/${id}`)).some(({ status }) => status !== "cancelled");
}

function stepOf(row: EntitlementRow, transition: "cancel" | "expire" | "renew" | "scheduleCancel"): Step | undefined {
  const step = nextStep(row, transition);
  return step.allowed ? step : undefined;
}

/** The next step of an entitlement, with its refunded amount and end date after the step. */
interface EntitlementChange {
  step: Step | undefined;
  refunded?: number;
  dateEnds?: number | null;
}

/**
 * Applies to every entitlement of a source the step that `decide` returns, and decides again if another request has changed it in the
 * meantime. `decide` reads after the row was read, so a later change that also touches the row is detected.
 */
export async function eachEntitlement(
  ctx: Ctx,
  source: string,
  decide: (row: EntitlementRow) => EntitlementChange | undefined | Promise<EntitlementChange | undefined>,
): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    let raced = false;
    for (const row of await findBySource(ctx, source)) {
      const { step, refunded, dateEnds = row.dateEnds } = (await decide(row)) ?? {};
      if (!step) continue;
      const { change, event } = planStep(ctx, { ...row, dateEnds }, step, refunded);
      raced = !(await wonRace(() => commitIfUnchanged(ctx, change, event))) || raced;
    }
    if (!raced) return;
  }
  throw conflict("The entitlements are changing too often; try again");
}
