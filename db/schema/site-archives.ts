import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ARCHIVE_KINDS, ARCHIVE_STATUSES } from "#db/enums.ts";
import type { ArchivePiece } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** Jobs that write a site's data to an archive, or read it from one, piece by piece; `version` counts their steps. */
export const siteArchives = sqliteTable(
  "site_archives",
  {
    id: id(),
    /** The site that is exported or imported. */
    siteId: siteId(),
    kind: text("kind", { enum: ARCHIVE_KINDS }).notNull(),
    status: text("status", { enum: ARCHIVE_STATUSES }).notNull(),
    /** Of an export: the table, by its place in the list, and the row after which it continues. */
    tableIndex: integer("table_index").notNull(),
    lastRow: integer("last_row").notNull(),
    /** Of an import: the byte at which it continues, and the number of the piece there. */
    offset: integer("offset").notNull(),
    piece: integer("piece").notNull(),
    /** Whether the site existed before the import: then rows that it has stay as they are. */
    hadSite: integer("had_site", { mode: "boolean" }).notNull(),
    /** Rows so far, in this phase. */
    rows: integer("rows").notNull(),
    bytes: integer("bytes").notNull(),
    /** Rows that the site had already. */
    skipped: integer("skipped").notNull(),
    pieces: text("pieces", { mode: "json" }).$type<ArchivePiece[]>().notNull(),
    message: text("message"),
    lease: integer("lease").notNull(),
    attempts: integer("attempts").notNull(),
    completed: time("completed"),
    ...tracked(),
  },
  (table) => [
    index("site_archives_site").on(table.siteId, table.created),
    index("site_archives_moved")
      .on(table.created)
      .where(sql`${table.kind} <> 'backup'`),
    index("site_archives_backups")
      .on(table.created, table.id)
      .where(sql`${table.kind} = 'backup'`),
    index("site_archives_unfinished")
      .on(table.lease)
      .where(sql`${table.status} not in ('complete', 'failed')`),
  ],
);

/** Exactly as in the index of those, which SQLite uses only then. */
export const isUnfinished = sql`${siteArchives.status} not in ('complete', 'failed')`;

export type ArchiveRow = typeof siteArchives.$inferSelect;
