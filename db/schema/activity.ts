import { index, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ACTIVITY_KINDS } from "../enums.ts";
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
    /** Watched, by the server's clock; 0 for what has no length. */
    seconds: real("seconds").notNull(),
    firstAt: time("first_at").notNull(),
    lastAt: time("last_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.accountId, table.kind, table.targetId, table.channelId] }),
    index("viewer_activity_last").on(table.lastAt),
  ],
);
