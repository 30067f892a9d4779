import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { MEDIA_KINDS } from "#db/enums.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Uploaded files; their contents are in the bucket under the id. */
export const media = sqliteTable(
  "media",
  {
    id: id(),
    siteId: siteId(),
    fileName: text("file_name").notNull(),
    kind: text("kind", { enum: MEDIA_KINDS }).notNull(),
    contentType: text("content_type").notNull(),
    /** Bytes. */
    size: integer("size").notNull(),
    ...tracked(),
  },
  (table) => [index("media_site_created").on(table.siteId, table.created, table.id)],
);

export type MediaRow = typeof media.$inferSelect;
