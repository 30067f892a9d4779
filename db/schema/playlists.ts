import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { PlaylistMember } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Ordered lists of resources: mostly videos, but also pages, panels or other playlists. */
export const playlists = sqliteTable(
  "playlists",
  {
    id: id(),
    siteId: siteId(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    members: text("members", { mode: "json" }).$type<PlaylistMember[]>().notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    ...tracked(),
  },
  (table) => [
    index("playlists_site_modified").on(table.siteId, table.modified, table.id),
    index("playlists_site_created").on(table.siteId, table.created, table.id),
    index("playlists_site_title").on(table.siteId, table.title, table.id),
  ],
);

export type PlaylistRow = typeof playlists.$inferSelect;
