import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ACTIVITY_KINDS } from "#db/enums.ts";
import { siteId, time } from "./columns.ts";

/** Activity of signed-in viewers that their connections reported: videos watched, channels visited, panels opened. */
export const viewerActivity = sqliteTable(
  "viewer_activity",
  {
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ACTIVITY_KINDS }).notNull(),
    /** The video, channel or panel. */
    targetId: text("target_id").notNull(),
    /** The channel where it happened. */
    channelId: text("channel_id").notNull(),
    /** The minute since 1970 UTC in which it started. Each uninterrupted activity has its own row, so that activity within a period can be queried. */
    startMinute: integer("begun").notNull(),
    /** Duration watched or visited, by the server's clock; 0 for activity without a duration. */
    seconds: real("seconds").notNull(),
    firstAt: time("first_at").notNull(),
    lastAt: time("last_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.accountId, table.kind, table.targetId, table.channelId, table.startMinute] }),
    index("viewer_activity_last").on(table.lastAt),
  ],
);
