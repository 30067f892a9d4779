import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { SITE_MOVE_PHASES } from "#db/enums.ts";
import { siteId, time } from "#db/schema/columns.ts";

/** The last move of a site between databases; only the directory's database has rows. */
export const siteMoves = sqliteTable("site_moves", {
  siteId: siteId().primaryKey(),
  fromShard: integer("from_shard").notNull(),
  toShard: integer("to_shard").notNull(),
  phase: text("phase", { enum: SITE_MOVE_PHASES }).notNull(),
  /** The table that is copied or deleted next, and the last of its rows that was copied. */
  tableIndex: integer("table_index").notNull(),
  lastRow: integer("last_row").notNull(),
  rows: integer("rows").notNull(),
  /** Why it was cancelled, or what it waits for. */
  message: text("message"),
  started: time("started").notNull(),
  switched: integer("switched"),
  completed: integer("completed"),
  lease: integer("lease").notNull(),
  attempts: integer("attempts").notNull(),
  /** Each worker that takes over has the next one; the databases reject writes of those before. */
  version: integer("version").notNull(),
});

export type SiteMoveRow = typeof siteMoves.$inferSelect;

/** What has changed in a site since its move began, by table and primary key: written by triggers that exist only meanwhile. */
export const siteMoveChanges = sqliteTable("site_move_changes", {
  seq: integer("seq").primaryKey({ autoIncrement: true }),
  tableName: text("table_name").notNull(),
  key: text("key").notNull(),
});

/** A single row: while `open`, within one batch, triggers let the writes of the move itself through. */
export const siteMovePass = sqliteTable("site_move_pass", {
  id: integer("id").primaryKey(),
  version: integer("version").notNull(),
  open: integer("open").notNull(),
});
