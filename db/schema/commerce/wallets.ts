import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { WALLET_OWNERS } from "#db/enums.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** Payers and payees: an owner's Stripe customer, and a balance in minor units, which is the sum of the wallet's transactions. */
export const wallets = sqliteTable(
  "wallets",
  {
    id: id(),
    siteId: siteId(),
    ownerId: text("owner_id").notNull(),
    ownerType: text("owner_type", { enum: WALLET_OWNERS }).notNull(),
    balance: integer("balance").notNull(),
    paymentCustomerId: text("payment_customer_id"),
    /** The connected Stripe account that the customer belongs to. */
    stripeAccount: text("stripe_account"),
    ...tracked(),
  },
  (table) => [uniqueIndex("wallets_owner").on(table.siteId, table.ownerType, table.ownerId)],
);

/** The ledger. Rows are only ever inserted, in the batch that changes the balance; see services/wallets/transactions.ts. */
export const walletTransactions = sqliteTable(
  "wallet_transactions",
  {
    id: id(),
    siteId: siteId(),
    walletId: text("wallet_id").notNull(),
    /** Chosen by whoever creates the transaction; those of Tifo itself start with `tifo/`. */
    transactionId: text("transaction_id").notNull(),
    /** Orders a wallet's transactions: the wallet's version that the transaction led to. */
    entry: integer("entry").notNull(),
    amount: integer("amount").notNull(),
    /** The wallet's balance afterwards. Null if the transaction isn't possible, which rolls its batch back. */
    balance: integer("balance").notNull(),
    reason: text("reason").notNull(),
    reference: text("reference"),
    createdBy: text("created_by").notNull(),
    created: time("created").notNull(),
  },
  (table) => [
    uniqueIndex("wallet_transactions_once").on(table.walletId, table.transactionId),
    index("wallet_transactions_wallet").on(table.siteId, table.walletId, table.entry, table.id),
  ],
);

export type WalletTransactionRow = typeof walletTransactions.$inferSelect;

export type WalletRow = typeof wallets.$inferSelect;
