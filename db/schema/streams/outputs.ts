import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id, siteId, tracked } from "#db/schema/columns.ts";

/** Links to a channel's output page, for mixers. Only the SHA-256 of a token is stored. */
export const outputs = sqliteTable(
  "outputs",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    name: text("name").notNull(),
    hash: text("hash").notNull().unique(),
    /** The account that created it; null: a developer key. */
    createdBy: text("created_by"),
    expires: integer("expires"),
    ...tracked(),
  },
  (table) => [index("outputs_channel").on(table.siteId, table.channelId, table.created, table.id)],
);

export type OutputRow = typeof outputs.$inferSelect;
