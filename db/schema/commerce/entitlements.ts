import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ENTITLEMENT_STATUSES, GRANT_METHODS } from "#db/enums.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/**
 * A SKU that an account holds or held. One with a scheduled cancellation is held until then.
 * `source` is what granted it, such as "invite/<id>", and identifies it when that is revoked.
 */
export const accountEntitlements = sqliteTable(
  "account_entitlements",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    sku: text("sku").notNull(),
    grantedMethod: text("granted_method", { enum: GRANT_METHODS }).notNull(),
    presentmentCurrency: text("presentment_currency"),
    /** The amount paid, and the part of it that was refunded, in minor units of the currency. */
    price: integer("price").notNull().default(0),
    refunded: integer("refunded").notNull().default(0),
    status: text("status", { enum: ENTITLEMENT_STATUSES }).notNull(),
    dateGranted: time("date_granted").notNull(),
    dateCancelled: time("date_cancelled"),
    dateRefunded: time("date_refunded"),
    /** The end of the paid period; null without a recurring payment. */
    dateEnds: time("date_ends"),
    source: text("source"),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("account_entitlements_held")
      .on(table.siteId, table.accountId, table.sku)
      .where(sql`${table.status} <> 'cancelled'`),
    index("account_entitlements_site_created").on(table.siteId, table.created, table.id),
    index("account_entitlements_account").on(table.siteId, table.accountId, table.created, table.id),
    index("account_entitlements_sku").on(table.siteId, table.sku, table.accountId),
    index("account_entitlements_ending")
      .on(table.dateEnds)
      .where(sql`${table.status} = 'cancelScheduled'`),
    index("account_entitlements_source")
      .on(table.siteId, table.source)
      .where(sql`${table.source} is not null`),
  ],
);

export type EntitlementRow = typeof accountEntitlements.$inferSelect;
