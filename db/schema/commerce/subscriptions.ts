import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { RECURRENCES, SUBSCRIPTION_PROVIDERS } from "#db/enums.ts";
import type { SubscriptionPrice } from "#db/types.ts";
import { id, siteId, tracked } from "#db/schema/columns.ts";

/** Subscriptions that a site offers. Accounts that hold the SKU pass the gates that name it. */
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
    index("subscriptions_site_modified").on(table.siteId, table.modified, table.id),
  ],
);

export type SubscriptionRow = typeof subscriptions.$inferSelect;
