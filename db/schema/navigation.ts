import { sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { NAVIGATION_TYPES } from "#db/enums.ts";
import type { NavigationEntry, NavigationLink } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Menus; a site has at most one default. */
export const navigations = sqliteTable(
  "navigations",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    type: text("type", { enum: NAVIGATION_TYPES }).notNull(),
    parents: text("parents", { mode: "json" }).$type<NavigationEntry[]>().notNull(),
    externalLinks: text("external_links", { mode: "json" }).$type<NavigationLink[]>().notNull(),
    ...tracked(),
  },
  (table) => [
    index("navigations_site_modified").on(table.siteId, table.modified, table.id),
    uniqueIndex("navigations_site_default")
      .on(table.siteId)
      .where(sql`${table.type} = 'default'`),
  ],
);

export type NavigationRow = typeof navigations.$inferSelect;
