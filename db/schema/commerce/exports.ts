import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { EXPORT_STATUSES } from "#db/enums.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/**
 * A list of a site's members in the making. The file is kept in pieces, each of which stands for some rows: whoever goes on begins
 * behind the last member of the last piece.
 */
export const memberExports = sqliteTable(
  "member_exports",
  {
    id: id(),
    siteId: siteId(),
    /** Who asked for it. */
    accountId: text("account_id").notNull(),
    fileName: text("file_name").notNull(),
    status: text("status", { enum: EXPORT_STATUSES }).notNull(),
    /** Members in the pieces, and those that the site had when it was asked for. */
    rows: integer("rows").notNull().default(0),
    totalRows: integer("total_rows").notNull(),
    /** Objects of the bucket, in order; their bytes together. */
    pieces: text("pieces", { mode: "json" }).$type<string[]>().notNull(),
    bytes: integer("bytes").notNull().default(0),
    lastCreated: integer("last_created").notNull().default(0),
    lastId: text("last_id").notNull().default(""),
    /** Until when whoever works on it has it alone, and how often somebody began without getting any further. */
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
