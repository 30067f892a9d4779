import { type SQL, sql } from "drizzle-orm";
import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { PAGE_TYPES } from "#db/enums.ts";
import type { PageData, PageSeo } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/**
 * Whether a page restricts who can watch, when or where: by a gate, a schedule or regions. `data` is the column name. SQLite uses the partial
 * indexes below only for queries with exactly this condition.
 */
export function isRestricted(data: string): SQL {
  return sql.raw(
    `(coalesce(json_extract(${data}, '$.gate.type'), 'none') <> 'none' or json_type(${data}, '$.schedule') is not null or coalesce(json_array_length(${data}, '$.regions'), 0) > 0)`,
  );
}

/** The video of the live or the offline programme. */
export function programmeVideo(data: string, programme: "live" | "offline"): SQL {
  return sql.raw(`(${data} ->> '$.content.${programme}.video_id')`);
}

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
    index("pages_restricted").on(table.siteId, table.id).where(isRestricted("data")),
    index("pages_restricted_live").on(table.siteId, programmeVideo("data", "live")).where(isRestricted("data")),
    index("pages_restricted_offline").on(table.siteId, programmeVideo("data", "offline")).where(isRestricted("data")),
  ],
);

export type PageRow = typeof pages.$inferSelect;
