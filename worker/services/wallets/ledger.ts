import { and, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type WalletRow, type WalletTransactionRow, wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { conflict, Failure, hasMessage } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Actor, type Ctx, describeActor, ownRow } from "#worker/services/core/context.ts";
import { pickFields } from "#worker/services/core/fields.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { MAX_BALANCE, TRANSACTION_FIELDS } from "./schemas.ts";

/** A transaction to be. Its `transactionId` is unique in the wallet, which makes it safe to repeat. */
export type NewTransaction = Pick<WalletTransactionRow, "walletId" | "transactionId" | "amount" | "reason" | "reference">;

const TOO_LOW = "NOT NULL constraint failed: wallet_transactions.balance";
const TOO_HIGH = "NOT NULL constraint failed: wallet_transactions.entry";

/**
 * The statements that change a balance, for a batch: the transaction, the wallet and the event. If the balance would become negative, or
 * the wallet doesn't exist, the transaction's balance is null; if it would become too large, its entry. Either rolls back the whole batch;
 * see `walletFailure`.
 */
export function planTransaction(ctx: Ctx, actor: Actor, transaction: NewTransaction): BatchItem<"sqlite">[] {
  const { walletId, amount } = transaction;
  const row = { ...transaction, id: newId(ctx.now), siteId: ctx.siteId, createdBy: describeActor(actor), created: ctx.now };
  const of = (value: SQL, condition?: SQL) =>
    sql<number>`(select ${value} from ${wallets} where ${and(ownRow(ctx, wallets, walletId), condition)})`;
  const next = sql`${wallets.balance} + ${amount}`;
  const entry = sql`coalesce(${of(sql`${wallets.version} + 1`)}, 0)`;
  return [
    ctx.db.insert(walletTransactions).values({
      ...row,
      entry: amount < 0 ? entry : sql`iif(${of(next)} > ${MAX_BALANCE}, null, ${entry})`,
      balance: of(next, amount < 0 ? sql`${next} >= 0` : undefined),
    }),
    ctx.db
      .update(wallets)
      .set({ balance: sql`${wallets.balance} + ${amount}`, modified: ctx.now, version: sql`${wallets.version} + 1` })
      .where(ownRow(ctx, wallets, walletId)),
    insertEventsForRows(ctx, actor, {
      type: "wallet.transactionCreated",
      area: "wallet",
      table: walletTransactions,
      where: ownRow(ctx, walletTransactions, row.id),
      resource: walletTransactions.walletId,
      data: pickFields(getTableColumns(walletTransactions), TRANSACTION_FIELDS),
    }),
  ];
}

/** The first transaction of a new wallet, so that the balance that it starts with is the sum of its transactions. */
export function openingTransaction(ctx: Ctx, actor: Actor, wallet: WalletRow): WalletTransactionRow {
  return {
    id: newId(ctx.now),
    siteId: wallet.siteId,
    walletId: wallet.id,
    transactionId: "tifo/opening",
    entry: wallet.version,
    amount: wallet.balance,
    balance: wallet.balance,
    reason: "Opening balance",
    reference: null,
    createdBy: describeActor(actor),
    created: ctx.now,
  };
}

/** Why one of a batch's transactions isn't possible; null if the batch failed for another reason. */
export function walletFailure(error: unknown): Failure | null {
  if (hasMessage(error, TOO_HIGH)) return conflict(`The wallet's balance would exceed ${MAX_BALANCE}`);
  return hasMessage(error, TOO_LOW) ? new Failure("insufficient_balance", "The wallet's balance is lower than the amount") : null;
}

/** Deletes the transactions of a deleted account's wallet. */
export function deleteTransactions(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  const owned = ctx.db
    .select({ id: wallets.id })
    .from(wallets)
    .where(and(eq(wallets.siteId, ctx.siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId)));
  return ctx.db
    .delete(walletTransactions)
    .where(and(eq(walletTransactions.siteId, ctx.siteId), inArray(walletTransactions.walletId, owned)));
}
