import { and, eq, sql } from "drizzle-orm";
import { type WalletTransactionRow, wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { conflict, hasMessage, notFound } from "#worker/lib/errors.ts";
import { commit, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { planTransaction, walletFailure } from "./ledger.ts";
import type { WalletTransactionInput } from "./schemas.ts";
import { requireWallet } from "./wallets.ts";

const REPEATED = "UNIQUE constraint failed: wallet_transactions.wallet_id, wallet_transactions.transaction_id";

// In the order in which they changed the balance.
const transactionList = tableList<WalletTransactionRow>({
  table: walletTransactions,
  rows: (db, slice) => sliceOf(db.select().from(walletTransactions).$dynamic(), slice),
  sort: { created: walletTransactions.entry },
  search: { reason: walletTransactions.reason, reference: sql`coalesce(${walletTransactions.reference}, '')` },
});

/** Lists a wallet's transactions: of the caller's own wallet, or of any for a manager of the site. */
export async function listTransactions(ctx: Ctx, walletId: string, query: ListQuery): Promise<ListPage<WalletTransactionRow>> {
  await requireWallet(ctx, walletId, "read");
  return listRows(ctx, transactionList, query, eq(walletTransactions.siteId, ctx.siteId), eq(walletTransactions.walletId, walletId));
}

/** Credits or debits a wallet, once by its transactionId: a repeated request returns the first one's transaction. */
export async function createTransaction(ctx: Ctx, walletId: string, input: WalletTransactionInput): Promise<WalletTransactionRow> {
  const actor = await ctx.caller();
  try {
    await commit(ctx, planTransaction(ctx, actor, { ...input, walletId }));
  } catch (error) {
    const failure = walletFailure(error);
    if (!failure && !hasMessage(error, REPEATED)) throw error;
    return transactionOfRepeat(ctx, walletId, input, failure ?? error);
  }
  const { row } = await readTransaction(ctx, walletId, input.transactionId);
  if (!row) throw notFound("Wallet not found");
  return row;
}

/** The first transaction with this id if it is the same; else why there can't be one. */
async function transactionOfRepeat(
  ctx: Ctx,
  walletId: string,
  input: WalletTransactionInput,
  reason: unknown,
): Promise<WalletTransactionRow> {
  const { wallet, row } = await readTransaction(ctx, walletId, input.transactionId);
  if (!wallet) throw notFound("Wallet not found");
  if (!row) throw reason;
  const isSame = row.amount === input.amount && row.reason === input.reason && row.reference === input.reference;
  if (!isSame) throw conflict("The wallet has another transaction with this transactionId");
  return row;
}

async function readTransaction(ctx: Ctx, walletId: string, transactionId: string) {
  const [[wallet], [row]] = await ctx.db.batch([
    ctx.db
      .select({ id: wallets.id })
      .from(wallets)
      .where(ownRow(ctx, wallets, walletId)),
    ctx.db
      .select()
      .from(walletTransactions)
      .where(
        and(
          eq(walletTransactions.siteId, ctx.siteId),
          eq(walletTransactions.walletId, walletId),
          eq(walletTransactions.transactionId, transactionId),
        ),
      ),
  ]);
  return { wallet, row };
}
