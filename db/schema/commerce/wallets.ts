import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { WALLET_OWNERS } from "#db/enums.ts";
import { id, siteId, tracked } from "#db/schema/columns.ts";

/** Payers and payees: an owner's Stripe customer, and a balance in minor units that the operator manages. */
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

export type WalletRow = typeof wallets.$inferSelect;
