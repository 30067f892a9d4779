import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ACTIVITY_KINDS } from "#db/enums.ts";
import { siteId, time } from "./columns.ts";

/** What signed-in viewers have really done, as their connections showed it: videos watched, channels visited, panels opened. */
export const viewerActivity = sqliteTable(
  "viewer_activity",
  {
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ACTIVITY_KINDS }).notNull(),
    /** The video, channel or panel. */
    targetId: text("target_id").notNull(),
    /** Where it was. */
    channelId: text("channel_id").notNull(),
    /** The minute since 1970 UTC in which it began: whatever goes on without a break has a row, so that what happened within a time can be told. */
    begun: integer("begun").notNull(),
    /** How much of it was watched, or how long the visit was, by the server's clock; 0 for what has no length. */
    seconds: real("seconds").notNull(),
    firstAt: time("first_at").notNull(),
    lastAt: time("last_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.accountId, table.kind, table.targetId, table.channelId, table.begun] }),
    index("viewer_activity_last").on(table.lastAt),
  ],
);
