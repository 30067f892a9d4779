import { primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** A site's shop at Shopify. Both secrets are sealed. */
export const shopConnections = sqliteTable("shop_connections", {
  id: id(),
  siteId: siteId().unique(),
  /** The shop's myshopify.com domain. */
  domain: text("domain").notNull(),
  tokenSealed: text("token_sealed").notNull(),
  /** Verifies the shop's webhooks; null if the site receives none. */
  webhookSecretSealed: text("webhook_secret_sealed"),
  ...tracked(),
});

/** The paid orders that the shop has reported, so that each counts once, however often and in whatever delivery it is reported. */
export const shopOrders = sqliteTable(
  "shop_orders",
  {
    siteId: siteId(),
    orderId: text("order_id").notNull(),
    webhookId: text("webhook_id").notNull(),
    created: time("created").notNull(),
  },
  (table) => [primaryKey({ columns: [table.siteId, table.orderId] }), uniqueIndex("shop_orders_webhook").on(table.siteId, table.webhookId)],
);

export type ShopConnectionRow = typeof shopConnections.$inferSelect;
