import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { EXPORT_STATUSES } from "#db/enums.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/**
 * An export of a site's members. The file is written in pieces of some rows each, so that a worker can resume after the last member of the
 * last piece.
 */
export const memberExports = sqliteTable(
  "member_exports",
  {
    id: id(),
    siteId: siteId(),
    /** The account that requested it. */
    accountId: text("account_id").notNull(),
    fileName: text("file_name").notNull(),
    status: text("status", { enum: EXPORT_STATUSES }).notNull(),
    /** Members in the pieces, and members of the site at the time of the request. */
    rows: integer("rows").notNull().default(0),
    totalRows: integer("total_rows").notNull(),
    /** Keys of the pieces in the bucket, in order, and their total size. */
    pieces: text("pieces", { mode: "json" }).$type<string[]>().notNull(),
    bytes: integer("bytes").notNull().default(0),
    lastCreated: integer("last_created").notNull().default(0),
    lastId: text("last_id").notNull().default(""),
    /** When the current worker's exclusive lease expires, and the number of attempts without progress. */
    lease: time("lease").notNull(),
    attempts: integer("attempts").notNull().default(0),
    completed: time("completed"),
    ...tracked(),
  },
  (table) => [
    index("member_exports_created").on(table.created),
    index("member_exports_unfinished")
      .on(table.lease)
      .where(sql`${table.status} in ('pending', 'running')`),
  ],
);

export type ExportRow = typeof memberExports.$inferSelect;
