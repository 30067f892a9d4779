import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { BILLING_PERIODS, ENTITLEMENT_STATUSES, PAYMENT_STATUSES, REFUND_REASONS, SALE_TYPES } from "#db/enums.ts";
import type { StripeRequirements } from "#db/types.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** What was sold: the same columns in a charge and in the recurring subscription that creates one each period. */
const sale = () => ({
  accountId: text("account_id").notNull(),
  /** In minor units of the currency (ISO 4217, lower case). */
  amount: integer("amount").notNull(),
  currency: text("currency").notNull(),
  itemType: text("item_type", { enum: SALE_TYPES }).notNull(),
  itemId: text("item_id").notNull(),
  description: text("description").notNull(),
  /** The SKUs that the payment grants. */
  skus: text("skus", { mode: "json" }).$type<string[]>().notNull(),
  /** Billing period; null for a one-time payment. */
  recurrence: text("recurrence", { enum: BILLING_PERIODS }),
  /** The connected Stripe account that is paid; null: the platform itself. */
  stripeAccount: text("stripe_account"),
});

/**
 * Payments requested from an account. The row is written before Stripe is called, so that no payment is ever unknown here. `reserved` is
 * the amount refunded or being refunded, of which `refunded` has succeeded. While something is open, `due` is when Stripe is polled next.
 */
export const charges = sqliteTable(
  "charges",
  {
    id: id(),
    siteId: siteId(),
    ...sale(),
    status: text("status", { enum: PAYMENT_STATUSES }).notNull(),
    reserved: integer("reserved").notNull().default(0),
    refunded: integer("refunded").notNull().default(0),
    receiptNumber: text("receipt_number"),
    /** Why it was declined. */
    failure: text("failure"),
    recurringId: text("recurring_id"),
    stripeSessionId: text("stripe_session_id"),
    stripePaymentId: text("stripe_payment_id"),
    stripeInvoiceId: text("stripe_invoice_id"),
    due: time("due"),
    ...tracked(),
  },
  (table) => [
    check("charges_books", sql`0 <= ${table.refunded} and ${table.refunded} <= ${table.reserved} and ${table.reserved} <= ${table.amount}`),
    uniqueIndex("charges_receipt").on(table.siteId, table.receiptNumber),
    uniqueIndex("charges_invoice").on(table.stripeInvoiceId),
    index("charges_site_created").on(table.siteId, table.created, table.id),
    index("charges_account").on(table.siteId, table.accountId, table.created, table.id),
    index("charges_recurring").on(table.recurringId, table.created),
    index("charges_payment").on(table.stripePaymentId),
    index("charges_due")
      .on(table.due)
      .where(sql`${table.due} is not null`),
  ],
);

/** Refunds, pending or complete. With `keep`, the buyer keeps the purchase. */
export const refunds = sqliteTable(
  "refunds",
  {
    id: id(),
    siteId: siteId(),
    chargeId: text("charge_id").notNull(),
    amount: integer("amount").notNull(),
    reason: text("reason", { enum: REFUND_REASONS }),
    keep: integer("keep", { mode: "boolean" }).notNull(),
    status: text("status", { enum: PAYMENT_STATUSES }).notNull(),
    failure: text("failure"),
    stripeRefundId: text("stripe_refund_id").unique(),
    ...tracked(),
  },
  (table) => [index("refunds_charge").on(table.chargeId)],
);

/** Monthly or yearly payments until they are cancelled, in the state that Stripe last reported. */
export const recurringSubscriptions = sqliteTable(
  "recurring_subscriptions",
  {
    id: id(),
    siteId: siteId(),
    ...sale(),
    status: text("status", { enum: ENTITLEMENT_STATUSES }).notNull(),
    pastDue: integer("past_due", { mode: "boolean" }).notNull(),
    stripeSubscriptionId: text("stripe_subscription_id").notNull().unique(),
    currentPeriodEnd: time("current_period_end"),
    dateCancelled: time("date_cancelled"),
    /** Whether it must end at Stripe too, which is retried at `due` until it has. */
    stopping: integer("stopping", { mode: "boolean" }).notNull(),
    /** When the site's Stripe account was disconnected: Stripe isn't called for it any more. */
    dateDetached: time("date_detached"),
    due: time("due"),
    ...tracked(),
  },
  (table) => [
    index("recurring_account").on(table.siteId, table.accountId, table.created, table.id),
    index("recurring_due")
      .on(table.due)
      .where(sql`${table.due} is not null`),
  ],
);

/**
 * A site's own Stripe account, in the state that Stripe last reported. `stripeAccount` is null until Stripe has created it; `synced` is
 * null until its state was fetched, so that an account from an old setting is checked before its first sale.
 */
export const connectedAccounts = sqliteTable("connected_accounts", {
  id: id(),
  siteId: siteId().unique(),
  stripeAccount: text("stripe_account").unique(),
  chargesEnabled: integer("charges_enabled", { mode: "boolean" }).notNull(),
  payoutsEnabled: integer("payouts_enabled", { mode: "boolean" }).notNull(),
  detailsSubmitted: integer("details_submitted", { mode: "boolean" }).notNull(),
  requirements: text("requirements", { mode: "json" }).$type<StripeRequirements>().notNull(),
  synced: time("synced"),
  ...tracked(),
});

export type ConnectionRow = typeof connectedAccounts.$inferSelect;

export type ChargeRow = typeof charges.$inferSelect;

export type RefundRow = typeof refunds.$inferSelect;

export type RecurringRow = typeof recurringSubscriptions.$inferSelect;
