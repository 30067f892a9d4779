import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { BundleItem } from "#db/types.ts";
import { id, siteId, tracked } from "#db/schema/columns.ts";

/** Tickets and shop items that are sold together for one price. */
export const bundles = sqliteTable(
  "bundles",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    sku: text("sku").notNull(),
    /** In minor units. */
    price: integer("price").notNull(),
    presentmentCurrency: text("presentment_currency").notNull(),
    items: text("items", { mode: "json" }).$type<BundleItem[]>().notNull(),
    description: text("description").notNull(),
    image: text("image"),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("bundles_site_sku").on(table.siteId, table.sku),
    index("bundles_site_created").on(table.siteId, table.created, table.id),
  ],
);

export type BundleRow = typeof bundles.$inferSelect;
