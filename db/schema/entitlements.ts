import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ENTITLEMENT_STATUSES, GRANT_METHODS, RECURRENCES, SUBSCRIPTION_PROVIDERS } from "../enums.ts";
import type { SubscriptionPrice } from "../types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** What a site offers; whoever holds its sku passes the gates that name it. */
export const subscriptions = sqliteTable(
  "subscriptions",
  {
    id: id(),
    siteId: siteId(),
    sku: text("sku").notNull(),
    name: text("name").notNull(),
    subscriptionProvider: text("subscription_provider", { enum: SUBSCRIPTION_PROVIDERS }).notNull(),
    recurrence: text("recurrence", { enum: RECURRENCES }),
    prices: text("prices", { mode: "json" }).$type<SubscriptionPrice[]>().notNull(),
    stripePlanId: text("stripe_plan_id"),
    previewDurationSeconds: integer("preview_duration_seconds").notNull().default(0),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("subscriptions_site_sku").on(table.siteId, table.sku),
    index("subscriptions_site_created").on(table.siteId, table.created, table.id),
  ],
);

/**
 * A sku that an account holds or held. One that is scheduled to be cancelled is held until its day comes.
 * `source` is what it was granted for, such as "invite/<id>", and finds it again when that is taken back.
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
    status: text("status", { enum: ENTITLEMENT_STATUSES }).notNull(),
    dateGranted: time("date_granted").notNull(),
    dateCancelled: time("date_cancelled"),
    dateRefunded: time("date_refunded"),
    source: text("source"),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("account_entitlements_held")
      .on(table.siteId, table.accountId, table.sku)
      .where(sql`${table.status} <> 'cancelled'`),
    index("account_entitlements_site_created").on(table.siteId, table.created, table.id),
    index("account_entitlements_account").on(table.siteId, table.accountId, table.created),
    index("account_entitlements_source")
      .on(table.siteId, table.source)
      .where(sql`${table.source} is not null`),
  ],
);
