import { and, eq, exists, type SQL } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import { type ChargeRow, charges, type RecurringRow, recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { wallets } from "#db/schema/commerce/wallets.ts";
import {
  cancelSubscription,
  type Checkout,
  expireCheckout,
  findCheckout,
  listPaidInvoices,
  readSubscription,
} from "#worker/integrations/stripe.ts";
import { wonRace, conflict, Failure, forbidden, hasMessage, notFound } from "#worker/lib/errors.ts";
import { planPaidDonation } from "./paid-donations.ts";
import { newReceiptNumber } from "./receipt-number.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import { toCharge } from "./schemas.ts";
import { toRecurring } from "#worker/services/wallets/schemas.ts";
import { callerAccount, commitIfUnchanged, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { HELD_TWICE, heldSkus, planGrants, type Planned } from "#worker/services/subscriptions/entitlements.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";

const MINUTE = 60_000;
// By then, a request to open a page has reached Stripe or never will.
const NEVER_OPENED_AFTER = 10 * MINUTE;
// Pages are open for an hour, so by then none can be paid any more.
const EXPIRED_AFTER = 120 * MINUTE;
const MAX_ATTEMPTS = 5;

const chargeList = tableList<ChargeRow>({
  table: charges,
  rows: (db, slice) => sliceOf(db.select().from(charges).$dynamic(), slice),
  sort: { created: charges.created },
  search: { description: charges.description },
});

export type ChargeQuery = ListQuery &
  Partial<Pick<ChargeRow, "accountId" | "status">> & { scope?: "account" | "site"; receiptNumber?: string; recurringId?: string };

/** Lists the caller's own charges or, for a site admin, those of a given account or of the whole site. */
export async function listCharges(
  ctx: Ctx,
  { accountId, scope, status, receiptNumber, recurringId, ...query }: ChargeQuery,
): Promise<ListPage<ChargeRow>> {
  const caller = await callerAccount(ctx);
  const ownerId = accountId ?? (scope === "site" ? undefined : caller.id);
  if (ownerId !== caller.id && !isSiteAdmin(caller.roles, "read"))
    throw forbidden("Only site admins can see the charges of other accounts");
  return listRows(
    ctx,
    chargeList,
    query,
    eq(charges.siteId, ctx.siteId),
    ownerId === undefined ? undefined : eq(charges.accountId, ownerId),
    status && eq(charges.status, status),
    receiptNumber === undefined ? undefined : eq(charges.receiptNumber, receiptNumber),
    recurringId === undefined ? undefined : eq(charges.recurringId, recurringId),
  );
}

export async function getCharge(ctx: Ctx, id: string): Promise<ChargeRow> {
  const [charge] = await ctx.db
    .select()
    .from(charges)
    .where(ownRow(ctx, charges, id));
  if (!charge) throw notFound("Charge not found");
  return charge;
}

/**
 * Closes an account's open payment pages for an item, so that it isn't paid twice; a 409 while a payment is in progress. An expired page
 * doesn't block a new one if Stripe can't report on it: if it turns out to be paid, the payment is refunded.
 */
export async function closePages(ctx: Ctx, accountId: string, itemId: string): Promise<void> {
  const open = await ctx.db
    .select()
    .from(charges)
    .where(
      and(eq(charges.siteId, ctx.siteId), eq(charges.accountId, accountId), eq(charges.itemId, itemId), eq(charges.status, "pending")),
    );
  for (const charge of open) {
    // Nobody knows the URL of a page for which Stripe's response was lost.
    if (charge.stripeSessionId === null) continue;
    try {
      await closePage(ctx, charge, charge.stripeSessionId);
    } catch (error) {
      const isExpired = ctx.now - charge.created > EXPIRED_AFTER;
      if (!isExpired || !(error instanceof Failure) || error.code !== "unavailable") throw error;
    }
  }
}

async function closePage(ctx: Ctx, charge: ChargeRow, sessionId: string): Promise<void> {
  await expireCheckout(ctx.env, charge.stripeAccount, sessionId);
  await settleCharge(ctx, charge);
  if ((await getCharge(ctx, charge.id)).status === "pending") throw conflict("A payment for this item is in progress");
}

/** The `source` of the entitlements bought with this charge. */
export function sourceOf(charge: Pick<ChargeRow, "id" | "recurringId">): string {
  return charge.recurringId === null ? `charge/${charge.id}` : `recurring/${charge.recurringId}`;
}

export function chargeEvent(type: "chargeCompleted" | "chargeDeclined", row: ChargeRow): NewEvent {
  return { type: `billing.${type}`, resource: `charge/${row.id}`, data: toCharge(row) };
}

/** Reads the state of a pending charge from Stripe and records it: paid, expired or still open. Safe to repeat, in any order. */
export async function settleCharge(ctx: Ctx, charge: ChargeRow): Promise<void> {
  if (charge.status !== "pending") return;
  const checkout = await findCheckout(ctx.env, charge.stripeAccount, {
    sessionId: charge.stripeSessionId,
    customerId: await customerOf(ctx, charge),
    chargeId: charge.id,
  });
  if (!checkout) {
    const neverOpened = ctx.now - charge.created > NEVER_OPENED_AFTER;
    return neverOpened ? decline(ctx, charge, "The payment page was never opened") : postpone(ctx, charge, {});
  }
  switch (checkout.state) {
    case "open":
    case "processing":
      return postpone(ctx, charge, { stripeSessionId: checkout.id });
    case "expired":
      return decline(ctx, charge, "The payment page expired");
    case "failed":
      // Stripe may have given up only on the payment and would keep creating invoices.
      if (checkout.subscriptionId !== null) await endUnpaid(ctx, charge, checkout.subscriptionId);
      return decline(ctx, charge, "The payment failed");
    case "paid":
      return complete(ctx, charge, checkout);
  }
}

async function endUnpaid(ctx: Ctx, { stripeAccount }: ChargeRow, subscriptionId: string): Promise<void> {
  const ended = await cancelSubscription(ctx.env, stripeAccount, subscriptionId, "immediate");
  if (!ended.ok && !ended.missing) throw new Failure("unavailable", `Stripe returned an error: ${ended.message}`);
}

async function customerOf(ctx: Ctx, { accountId, stripeAccount }: ChargeRow): Promise<string | null> {
  const [wallet] = await ctx.db
    .select({ customerId: wallets.paymentCustomerId, stripeAccount: wallets.stripeAccount })
    .from(wallets)
    .where(and(eq(wallets.siteId, ctx.siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId)));
  return wallet?.stripeAccount === stripeAccount ? wallet.customerId : null;
}

/** Schedules the next check, at increasing intervals. */
async function postpone(ctx: Ctx, charge: ChargeRow, found: Partial<ChargeRow>): Promise<void> {
  const due = ctx.now + Math.max(MINUTE, Math.floor((ctx.now - charge.created) / 4));
  await ctx.db
    .update(charges)
    .set({ ...found, due })
    .where(stillPending(ctx, charge));
}

/** Records that the charge was not and will not be paid. */
export async function decline(ctx: Ctx, charge: ChargeRow, failure: string): Promise<void> {
  const next: ChargeRow = { ...charge, status: "declined", failure, due: null, modified: ctx.now, version: charge.version + 1 };
  const change = ctx.db.update(charges).set(next).where(stillPending(ctx, charge));
  // If another request settled it in the meantime, nothing is left to do.
  await wonRace(() => commitIfUnchanged(ctx, change, chargeEvent("chargeDeclined", next)));
}

/** Records a payment together with everything that it buys, in one commit. */
async function complete(ctx: Ctx, charge: ChargeRow, checkout: Checkout): Promise<void> {
  const paid = await paymentOf(ctx, charge, checkout);
  const next: ChargeRow = {
    ...charge,
    status: "complete",
    amount: checkout.amount ?? charge.amount,
    currency: checkout.currency ?? charge.currency,
    receiptNumber: newReceiptNumber(ctx.now),
    stripeSessionId: checkout.id,
    stripePaymentId: paid.paymentId,
    stripeInvoiceId: checkout.invoiceId,
    // Stripe may have reported a refund before this payment was recorded.
    due: ctx.now,
    modified: ctx.now,
    version: charge.version + 1,
  };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const accountExists = await hasAccount(ctx, charge.accountId);
    const bought = await planPurchase(ctx, next, paid.recurring, accountExists);
    const change = ctx.db
      .update(charges)
      .set(next)
      .where(and(stillPending(ctx, charge), accountExists ? exists(accountOf(ctx, charge.accountId)) : undefined));
    const events = [chargeEvent("chargeCompleted", next), ...bought.events] as const;
    if (await unlessHeld(() => wonRace(() => commitIfUnchanged(ctx, [change, ...bought.changes], ...events)))) return;
    if ((await getCharge(ctx, charge.id)).status !== "pending") return;
  }
  throw conflict("The buyer's entitlements are changing too often; try again");
}

/** False if another request has granted the buyer one of the skus between the read and the write. */
async function unlessHeld(write: () => Promise<boolean>): Promise<boolean> {
  try {
    return await write();
  } catch (error) {
    if (hasMessage(error, `UNIQUE constraint failed: ${HELD_TWICE}`)) return false;
    throw error;
  }
}

/** Whether the account still exists. */
export async function hasAccount(ctx: Ctx, accountId: string): Promise<boolean> {
  return (await accountOf(ctx, accountId)).length > 0;
}

function accountOf(ctx: Ctx, accountId: string) {
  return ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(ownRow(ctx, accounts, accountId));
}

interface Payment {
  paymentId: string | null;
  recurring: RecurringRow | undefined;
}

async function paymentOf(ctx: Ctx, charge: ChargeRow, checkout: Checkout): Promise<Payment> {
  const { subscriptionId } = checkout;
  if (charge.recurringId === null || subscriptionId === null) return { paymentId: checkout.paymentId, recurring: undefined };
  const invoices = await listPaidInvoices(ctx.env, charge.stripeAccount, subscriptionId);
  const found = await readSubscription(ctx.env, charge.stripeAccount, subscriptionId);
  if (!found.ok) throw new Failure("unavailable", `Stripe returned an error: ${found.message}`);
  const { status, pastDue, currentPeriodEnd } = found.value;
  const { siteId, accountId, itemType, itemId, description, skus, stripeAccount } = charge;
  return {
    paymentId: invoices.find(({ id }) => id === checkout.invoiceId)?.paymentId ?? null,
    recurring: {
      id: charge.recurringId,
      siteId,
      accountId,
      itemType,
      itemId,
      description,
      skus,
      stripeAccount,
      amount: checkout.amount ?? charge.amount,
      currency: checkout.currency ?? charge.currency,
      recurrence: charge.recurrence,
      status,
      pastDue,
      stripeSubscriptionId: subscriptionId,
      currentPeriodEnd,
      dateCancelled: null,
      dateDetached: null,
      stopping: false,
      // Check again soon: it may have been cancelled between Stripe's response and our commit.
      due: ctx.now,
      created: ctx.now,
      modified: ctx.now,
      version: 1,
    },
  };
}

/** What a payment buys: nothing if the account was deleted or holds it already. Then it is stopped, and refunds.ts refunds the money. */
async function planPurchase(ctx: Ctx, charge: ChargeRow, recurring: RecurringRow | undefined, accountExists: boolean): Promise<Planned> {
  if (charge.itemType === "donation") return planPaidDonation(ctx, charge);
  const { accountId, skus, amount: price, currency: presentmentCurrency } = charge;
  const bought = { accountId, skus, price, presentmentCurrency, grantedMethod: "purchased" as const, source: sourceOf(charge) };
  const ends = recurring && { dateEnds: recurring.currentPeriodEnd };
  const granted = accountExists ? planGrants(ctx, { ...bought, ...ends }, await heldSkus(ctx, accountId)) : { changes: [], events: [] };
  if (!recurring) return granted;
  const insert = ctx.db.insert(recurringSubscriptions).values({ ...recurring, stopping: granted.changes.length === 0 });
  const started: NewEvent<"billing.recurringStarted"> = {
    type: "billing.recurringStarted",
    resource: `recurring/${recurring.id}`,
    data: toRecurring(recurring),
  };
  return { changes: [insert, ...granted.changes], events: [started, ...granted.events] };
}

function stillPending(ctx: Ctx, charge: ChargeRow): SQL | undefined {
  return and(ownRow(ctx, charges, charge.id), eq(charges.status, "pending"));
}
