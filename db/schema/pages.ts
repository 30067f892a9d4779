import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { PAGE_TYPES } from "../enums.ts";
import type { PageData, PageSeo } from "../types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Channels and landing pages. */
export const pages = sqliteTable(
  "pages",
  {
    id: id(),
    siteId: siteId(),
    type: text("type", { enum: PAGE_TYPES }).notNull(),
    slug: text("slug").notNull(),
    seo: text("seo", { mode: "json" }).$type<PageSeo>().notNull(),
    style: text("style", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    activeRenderers: text("active_renderers", { mode: "json" }).$type<string[]>().notNull(),
    renderers: text("renderers", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    data: text("data", { mode: "json" }).$type<PageData>().notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("pages_site_slug").on(table.siteId, table.slug),
    index("pages_site_id").on(table.siteId, table.id),
    index("pages_site_type").on(table.siteId, table.type, table.id),
  ],
);
