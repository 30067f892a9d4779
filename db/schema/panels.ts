import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { PANEL_TYPES } from "#db/enums.ts";
import type { PanelRenderer } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Panels of the sidebar. Type and name are copied from the renderer, so that lists can filter and sort by them. */
export const panels = sqliteTable(
  "panels",
  {
    id: id(),
    siteId: siteId(),
    slug: text("slug").notNull(),
    panelType: text("panel_type", { enum: PANEL_TYPES }).notNull(),
    panelName: text("panel_name").notNull(),
    renderer: text("renderer", { mode: "json" }).$type<PanelRenderer>().notNull(),
    ...tracked(),
  },
  (table) => [index("panels_site_modified").on(table.siteId, table.modified, table.id)],
);

export type PanelRow = typeof panels.$inferSelect;
