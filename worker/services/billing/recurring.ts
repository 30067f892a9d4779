import { and, desc, eq, ne, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type ChargeRow, charges, type EntitlementRow, type RecurringRow, recurringSubscriptions } from "#db/schema/index.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import {
  cancelSubscription,
  listPaidInvoices,
  type PaidInvoice,
  readSubscription,
  type StripeSubscription,
} from "#worker/integrations/stripe.ts";
import { asToldOutside, nextStep, type Step } from "#worker/services/subscriptions/entitlement-state.ts";
import { wonRace, conflict, Failure, notFound, refuseDuplicate } from "#worker/lib/errors.ts";
import { newReceiptNumber } from "./receipt-number.ts";
import { toRecurring } from "#worker/services/wallets/schemas.ts";
import { chargeEvent, hasAccount } from "./charges.ts";
import { whereVersion, batchAll, commitIfUnchanged, type Ctx, newRow, ownRow } from "#worker/services/core/context.ts";
import { findBySource, planRenewal, planStep } from "#worker/services/subscriptions/entitlements.ts";

const TRIES = 5;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// Stripe charges for a period an hour after it has begun.
const PAID_WITHIN = 3 * HOUR;

/** How a cancellation of what is paid regularly went. */
export type Cancellation = { success: true } | { success: false; message: string };

export async function getRecurring(ctx: Ctx, id: string): Promise<RecurringRow> {
  const [recurring] = await ctx.db
    .select()
    .from(recurringSubscriptions)
    .where(ownRow(ctx, recurringSubscriptions, id));
  if (!recurring) throw notFound("Recurring subscription not found");
  return recurring;
}

/** What an account pays regularly or once did, the newest first. */
export async function recurringOf(ctx: Ctx, accountId: string): Promise<RecurringRow[]> {
  return ctx.db
    .select()
    .from(recurringSubscriptions)
    .where(and(eq(recurringSubscriptions.siteId, ctx.siteId), eq(recurringSubscriptions.accountId, accountId)))
    .orderBy(desc(recurringSubscriptions.created), desc(recurringSubscriptions.id));
}

/**
 * Ends regular payments at Stripe, at once or with the period that is paid for, and what was bought with them; safe to repeat.
 * `source` is that of an entitlement, "recurring/<id>". Throws `unavailable` where Stripe leaves it open: call again.
 */
export async function cancelRecurring(
  ctx: Ctx,
  { source, when }: { source: string; when: "immediate" | "endOfBilling" },
): Promise<Cancellation> {
  const recurring = await getRecurring(ctx, source.replace(/^recurring\//, ""));
  if (recurring.status === "cancelled" || (recurring.status === "cancelScheduled" && when === "endOfBilling")) return { success: true };
  const { stripeAccount, stripeSubscriptionId } = recurring;
  // Before anything is written down that only Stripe can bring about.
  requireStripe(ctx.env);
  const expecting = await expectEnd(ctx, recurring, when);
  const outcome = await cancelSubscription(ctx.env, stripeAccount, stripeSubscriptionId, when);
  if (!outcome.ok) {
    await expectNoEnd(ctx, expecting, recurring.stopping);
    return { success: false, message: outcome.missing ? "Stripe Subscription not found" : outcome.message };
  }
  await book(ctx, expecting, outcome.value);
  return { success: true };
}

/** Written down before Stripe is asked, so that the cron brings to its end what dies in between. */
async function expectEnd(ctx: Ctx, recurring: RecurringRow, when: "immediate" | "endOfBilling"): Promise<RecurringRow> {
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

/** Stripe has refused: unless somebody else has changed the row since, it stays as it was. */
async function expectNoEnd(ctx: Ctx, expecting: RecurringRow, stopping: boolean): Promise<void> {
  await ctx.db
    .update(recurringSubscriptions)
    .set({ stopping })
    .where(whereVersion(ctx, recurringSubscriptions, expecting));
}

/** Asks Stripe how a recurring subscription stands, or to end it, and books that: periods paid, cancellations. Safe to repeat, in any order. */
export async function syncRecurring(ctx: Ctx, recurring: RecurringRow): Promise<void> {
  await book(ctx, recurring, await askStripe(ctx, recurring));
}

async function askStripe(ctx: Ctx, recurring: RecurringRow): Promise<StripeSubscription> {
  const { stripeAccount, stripeSubscriptionId: id } = recurring;
  const isToEnd = recurring.stopping || !(await hasAccount(ctx, recurring.accountId));
  const found = isToEnd
    ? await cancelSubscription(ctx.env, stripeAccount, id, "immediate")
    : await readSubscription(ctx.env, stripeAccount, id);
  if (!found.ok && !found.missing) throw new Failure("unavailable", `Stripe refused: ${found.message}`);
  const gone: StripeSubscription = { id, status: "cancelled", pastDue: false, unpaid: false, currentPeriodEnd: null };
  return found.ok ? found.value : gone;
}

async function book(ctx: Ctx, recurring: RecurringRow, state: StripeSubscription): Promise<void> {
  const invoices = await listPaidInvoices(ctx.env, recurring.stripeAccount, recurring.stripeSubscriptionId);
  for (const invoice of invoices) await bookPeriod(ctx, recurring, invoice, invoice === invoices.at(-1) ? state.currentPeriodEnd : null);
  await follow(ctx, recurring, state, invoices.findLast(({ amount }) => amount > 0)?.amount);
}

/** Ends regular payments, whatever may come in between: Stripe is asked until it has. */
export function stopRecurring(ctx: Ctx, where: ReturnType<typeof and>, due = ctx.now): BatchItem<"sqlite"> {
  return ctx.db
    .update(recurringSubscriptions)
    .set({ stopping: true, due, version: sql`${recurringSubscriptions.version} + 1` })
    .where(and(eq(recurringSubscriptions.siteId, ctx.siteId), ne(recurringSubscriptions.status, "cancelled"), where));
}

/** The same for all that an account pays, which itself is going. */
export function stopAllOf(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return stopRecurring(ctx, eq(recurringSubscriptions.accountId, accountId));
}

/** Books a period that was paid, once; the last one prolongs what was bought. The first is booked with its checkout, which has its invoice. */
async function bookPeriod(ctx: Ctx, recurring: RecurringRow, invoice: PaidInvoice, dateEnds: number | null): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const [known] = await ctx.db.select({ id: charges.id }).from(charges).where(eq(charges.stripeInvoiceId, invoice.id));
    if (known) return;
    const row = chargeOf(ctx, recurring, invoice);
    const renewed =
      dateEnds === null
        ? { changes: [], events: [] }
        : await planRenewal(ctx, `recurring/${recurring.id}`, { dateEnds, price: invoice.amount });
    // What was bought comes first, on which the rest hangs: of what is paid regularly that is one sku.
    const changes = [...renewed.changes, ctx.db.insert(charges).values(row)];
    const write = () => commitIfUnchanged(ctx, changes, chargeEvent("chargeCompleted", row), ...renewed.events);
    if (await wonRace(() => refuseDuplicate("charges.stripe_invoice_id", "This period is booked already", write))) return;
  }
  throw conflict("Too many changes of what was bought at the same time");
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
    // Stripe may have told of a refund before this was booked.
    due: ctx.now,
  };
}

/** Writes down what Stripe said after `asked` was read, and lets what was bought follow. Whoever finds the row changed since asks again. */
async function follow(ctx: Ctx, asked: RecurringRow, answer: StripeSubscription, lastPaid = asked.amount): Promise<void> {
  const { id } = asked;
  let [version, state] = [asked.version, answer];
  for (let tries = 1; tries <= TRIES; tries++) {
    const current = await getRecurring(ctx, id);
    if (current.version !== version) [version, state] = [current.version, await askStripe(ctx, current)];
    // What has ended stays so, also when an older answer comes in late.
    const status = current.status === "cancelled" ? "cancelled" : state.status;
    const next: RecurringRow = {
      ...current,
      status,
      amount: lastPaid,
      pastDue: state.pastDue && status !== "cancelled",
      currentPeriodEnd: state.currentPeriodEnd ?? current.currentPeriodEnd,
      dateCancelled: status === "active" ? null : (current.dateCancelled ?? ctx.now),
      // What is over here is to be over there.
      stopping: status === "cancelled" ? state.unpaid : current.stopping,
    };
    await alignEntitlements(ctx, next);
    // What holds nothing any more, because it was refunded or taken away, isn't to be paid for again.
    if (status !== "cancelled" && !(await isHeld(ctx, id))) next.stopping = true;
    const same = (["status", "amount", "pastDue", "currentPeriodEnd"] as const).every((field) => next[field] === current[field]);
    // Not before what was bought has followed: until then it stays due. What was to be looked at sooner still is.
    const ahead = same && current.due !== null && current.due > ctx.now ? current.due : Infinity;
    const look = nextLook(ctx, next, current);
    const due = look && Math.min(look, ahead);
    const stamps = { due, modified: same ? current.modified : ctx.now, version: current.version + 1 };
    const change = ctx.db
      .update(recurringSubscriptions)
      .set({ ...next, ...stamps })
      .where(whereVersion(ctx, recurringSubscriptions, current));
    if (same) {
      const written = await change.returning({ id: recurringSubscriptions.id });
      if (written.length > 0) return;
      continue;
    }
    const told = { type: "billing.recurringUpdated", resource: `recurring/${id}`, data: toRecurring({ ...next, ...stamps }) };
    if (await wonRace(() => commitIfUnchanged(ctx, change, told))) return;
  }
  throw conflict("Too many changes of this recurring subscription at the same time");
}

/** When Stripe is asked again, should it tell nothing until then. */
function nextLook({ now }: Ctx, next: RecurringRow, { currentPeriodEnd: before }: RecurringRow): number | null {
  if (next.stopping) return now + MINUTE;
  if (next.status === "cancelled") return null;
  const end = next.currentPeriodEnd;
  if (next.status === "cancelScheduled" && end !== null) return Math.min(now + DAY, Math.max(now + MINUTE, end));
  if (end === null || next.pastDue || next.status === "cancelScheduled") return now + DAY;
  // A period that has just begun is yet to be paid.
  return (end === before ? Math.max(now, end) : now) + PAID_WITHIN;
}

/** Takes each entitlement to where its payments are. */
async function alignEntitlements(ctx: Ctx, { id, status, currentPeriodEnd }: RecurringRow): Promise<void> {
  await eachEntitlement(ctx, `recurring/${id}`, (row) => {
    // Its day may be that of a period that has begun since, or one that comes sooner.
    const dateEnds = (status === "cancelScheduled" ? currentPeriodEnd : null) ?? row.dateEnds;
    const isScheduled = row.status === "cancelScheduled";
    const hasCome = status === "cancelScheduled" && isScheduled && dateEnds !== null && dateEnds <= ctx.now;
    if (hasCome) return { step: stepOf(row, "expire") };
    if (row.status === "cancelled" || (row.status === status && row.dateEnds === dateEnds)) return undefined;
    if (status === "cancelled") return { step: stepOf(row, isScheduled ? "expire" : "cancel") };
    if (status === "cancelScheduled") return { step: stepOf({ ...row, dateEnds }, isScheduled ? "renew" : "scheduleCancel"), dateEnds };
    return { step: asToldOutside(status, "entitlement_renewed") };
  });
}

async function isHeld(ctx: Ctx, id: string): Promise<boolean> {
  return (await findBySource(ctx, `recurring/${id}`)).some(({ status }) => status !== "cancelled");
}

function stepOf(row: EntitlementRow, transition: "cancel" | "expire" | "renew" | "scheduleCancel"): Step | undefined {
  const step = nextStep(row, transition);
  return step.allowed ? step : undefined;
}

/** What is to happen to an entitlement, with what of its price is back then, and until when it is held. */
interface Move {
  step: Step | undefined;
  refunded?: number;
  dateEnds?: number | null;
}

/**
 * Takes every entitlement of a source the step that `decide` says, again where another request has changed it meanwhile. What `decide`
 * reads is newer than the row: whoever changes that afterwards, and the row with it, is noticed.
 */
export async function eachEntitlement(
  ctx: Ctx,
  source: string,
  decide: (row: EntitlementRow) => Move | undefined | Promise<Move | undefined>,
): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries++) {
    let raced = false;
    for (const row of await findBySource(ctx, source)) {
      const { step, refunded, dateEnds = row.dateEnds } = (await decide(row)) ?? {};
      if (!step) continue;
      const { change, event } = planStep(ctx, { ...row, dateEnds }, step, refunded);
      raced = !(await wonRace(() => commitIfUnchanged(ctx, change, event))) || raced;
    }
    if (!raced) return;
  }
  throw conflict("Too many changes of what was bought at the same time");
}
