import { and, eq, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts } from "#db/schema/accounts.ts";
import type { RecurringRow } from "#db/schema/commerce/billing.ts";
import { type WalletRow, wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { sites } from "#db/schema/sites.ts";
import { wonRace, forbidden, notFound, unauthenticated } from "#worker/lib/errors.ts";
import { type Action, isSiteAdmin } from "#worker/lib/roles.ts";
import { type CancelRecurring, toTransaction, toWallet, type WalletInput } from "./schemas.ts";
import { type Actor, callerAccount, commitIfUnchanged, type Ctx, type NewEvent, newRow, ownRow } from "#worker/services/core/context.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { ctxOf } from "#worker/services/core/databases.ts";
import { cancelRecurring, recurringOf } from "#worker/services/billing/recurring.ts";
import { refundOnce } from "#worker/services/billing/refunds.ts";
import { findConnection } from "#worker/services/billing/stripe-connect.ts";
import { openingTransaction } from "./ledger.ts";

/** A failure that the wallet operations return with 200. */
export type WalletFailure = { success: false; message: string };

/** The caller's wallet, created on first access. */
export async function getOwnWallet(ctx: Ctx): Promise<WalletRow> {
  const { id } = await callerAccount(ctx);
  return walletOf(ctx, id);
}

/** The wallet of an account of the site, created on first access, for callers who manage the site. */
export async function getWalletOfAccount(ctx: Ctx, accountId: string): Promise<WalletRow> {
  if (!(await ownerExists(ctx, "account", accountId))) throw notFound("Account not found");
  return walletOf(ctx, accountId);
}

/** An account's wallet, created on first use. */
export async function walletOf(ctx: Ctx, accountId: string): Promise<WalletRow> {
  const known = await findWallet(ctx, "account", accountId);
  if (known) return known;
  const row: WalletRow = {
    ...newRow(ctx),
    ownerId: accountId,
    ownerType: "account",
    balance: 0,
    paymentCustomerId: null,
    stripeAccount: null,
  };
  if (await insert(ctx, row)) return row;
  return walletOf(ctx, accountId);
}

/** Creates a wallet, for the operator. Fails if the owner has one or doesn't belong to the site. */
export async function insertWallet(
  ctx: Ctx,
  { siteId, ownerId, ownerType, balance, paymentCustomerId }: WalletInput,
): Promise<WalletRow | WalletFailure> {
  await ctx.caller();
  const own = ctxOf(ctx, siteId);
  if (!(await ownerExists(own, ownerType, ownerId)))
    return { success: false, message: `Failed to insert the wallet: no such ${ownerType}` };
  const row: WalletRow = {
    ...newRow(own),
    ownerId,
    ownerType,
    balance,
    paymentCustomerId: paymentCustomerId ?? null,
    // The customer belongs to the Stripe account that the site is paid through.
    stripeAccount: paymentCustomerId === undefined ? null : ((await findConnection(own))?.stripeAccount ?? null),
  };
  if (await insert(own, row)) return row;
  return { success: false, message: "Failed to insert the wallet: the owner already has one" };
}

async function ownerExists(ctx: Ctx, ownerType: WalletRow["ownerType"], ownerId: string): Promise<boolean> {
  if (ownerType === "site" && ownerId !== ctx.siteId) return false;
  const [owner] =
    ownerType === "site"
      ? await ctx.db.select({ id: sites.id }).from(sites).where(eq(sites.id, ownerId))
      : await ctx.db
          .select({ id: accounts.id })
          .from(accounts)
          .where(ownRow(ctx, accounts, ownerId));
  return owner !== undefined;
}

/** Inserts a wallet and, if it starts with a balance, the transaction that accounts for it. */
async function insert(ctx: Ctx, row: WalletRow): Promise<boolean> {
  const change = ctx.db.insert(wallets).values(row).onConflictDoNothing();
  const resource = `wallet/${row.id}`;
  const created: NewEvent<"wallet.created"> = { type: "wallet.created", resource, data: toWallet(row) };
  if (row.balance === 0) return wonRace(() => commitIfUnchanged(ctx, change, created));
  const opening = openingTransaction(ctx, await ctx.caller(), row);
  const opened: NewEvent<"wallet.transactionCreated"> = {
    type: "wallet.transactionCreated",
    resource,
    data: toTransaction(opening, true),
  };
  return wonRace(() => commitIfUnchanged(ctx, [change, ctx.db.insert(walletTransactions).values(opening)], created, opened));
}

/** The current and past recurring subscriptions of a wallet's owner, newest first. */
export async function listRecurring(ctx: Ctx, walletId: string): Promise<RecurringRow[]> {
  const wallet = await requireWallet(ctx, walletId, "read");
  return recurringOf(ctx, wallet.ownerId);
}

export async function getRecurringOf(ctx: Ctx, walletId: string, id: string): Promise<RecurringRow> {
  const found = (await listRecurring(ctx, walletId)).find((one) => one.id === id);
  if (!found) throw notFound(missing(id));
  return found;
}

/** Cancels a recurring subscription of a wallet's owner; admins may also refund the current period. */
export async function cancelOfWallet(
  ctx: Ctx,
  walletId: string,
  id: string,
  { refund, scheduled }: CancelRecurring,
): Promise<{ success: boolean; message?: string }> {
  const caller = await callerAccount(ctx);
  const wallet = await requireWallet(ctx, walletId, "write");
  if (refund && !isSiteAdmin(caller.roles, "write")) throw forbidden("Only site admins can refund payments");
  const recurring = (await recurringOf(ctx, wallet.ownerId)).find((one) => one.id === id);
  if (!recurring) return { success: false, message: missing(id) };
  const source = `recurring/${id}`;
  const cancelled = await cancelRecurring(ctx, { source, when: scheduled });
  if (!cancelled.success || !refund) return cancelled;
  const keep = scheduled === "endOfBilling";
  const refunded = await refundOnce(ctx, { source, reason: "requested_by_customer", keep });
  // The cancellation succeeded, whatever the outcome of the refund.
  return refunded.success ? { success: true } : { success: true, message: `Not refunded yet: ${refunded.errorMessage ?? "unknown"}` };
}

function missing(id: string): string {
  return `Subscription ${id} does not exists`;
}

/** A wallet of the site: the caller's own, or any for developer keys and site admins; otherwise a 401, for compatibility. */
export async function requireWallet(ctx: Ctx, walletId: string, action: Action): Promise<WalletRow> {
  const caller = await ctx.caller();
  const [wallet] = await ctx.db
    .select()
    .from(wallets)
    .where(ownRow(ctx, wallets, walletId));
  if (!wallet) throw notFound("Wallet not found");
  if (caller.kind === "developer") return wallet;
  const isOwn = caller.kind === "account" && wallet.ownerType === "account" && wallet.ownerId === caller.id;
  const isAdmin = caller.kind === "account" && isSiteAdmin(caller.roles, action);
  if (!isOwn && !isAdmin) throw unauthenticated("Not authorized for this wallet");
  return wallet;
}

/** Deletes the wallet of an account that is being deleted, and with it the Stripe customer id. */
export function deleteWallet(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(wallets).where(walletOfAccount(ctx, accountId));
}

/** Emits the event of the wallet that `deleteWallet` is about to delete. */
export function insertDeletedWalletEvent(ctx: Ctx, actor: Actor, accountId: string): BatchItem<"sqlite"> {
  const { id: _id, siteId, ownerId, ownerType } = wallets;
  const data = { _id, siteId, ownerId, ownerType };
  return insertEventsForRows(ctx, actor, {
    type: "wallet.deleted",
    area: "wallet",
    table: wallets,
    where: walletOfAccount(ctx, accountId),
    data,
  });
}

function walletOfAccount(ctx: Ctx, accountId: string): SQL | undefined {
  return and(eq(wallets.siteId, ctx.siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId));
}

async function findWallet(ctx: Ctx, ownerType: WalletRow["ownerType"], ownerId: string): Promise<WalletRow | undefined> {
  const [wallet] = await ctx.db
    .select()
    .from(wallets)
    .where(and(eq(wallets.siteId, ctx.siteId), eq(wallets.ownerType, ownerType), eq(wallets.ownerId, ownerId)));
  return wallet;
}
