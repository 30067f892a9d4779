import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { INSIGHT_METRICS, REACH_KINDS } from "#db/enums.ts";
import { siteId, time } from "./columns.ts";

/** What happened on a channel in an hour: one row per metric. Contains no ids of people or devices. */
export const insightHours = sqliteTable(
  "insight_hours",
  {
    siteId: siteId(),
    /** Empty: of no channel in particular, or of the whole site. */
    channelId: text("channel_id").notNull(),
    /** The start of the hour. */
    hour: time("hour").notNull(),
    metric: text("metric", { enum: INSIGHT_METRICS }).notNull(),
    value: integer("value").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.channelId, table.hour, table.metric] }),
    index("insight_hours_site").on(table.siteId, table.hour),
    index("insight_hours_hour").on(table.hour),
  ],
);

/** How often an overlay, broadcast, panel, poll, quest or video was shown or used on a channel in a day. */
export const insightReach = sqliteTable(
  "insight_reach",
  {
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    /** The start of the day (UTC). */
    day: time("day").notNull(),
    kind: text("kind", { enum: REACH_KINDS }).notNull(),
    /** What was shown; empty for all that are no longer kept separately. */
    targetId: text("target_id").notNull(),
    value: integer("value").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.channelId, table.day, table.kind, table.targetId] }),
    index("insight_reach_target").on(table.siteId, table.targetId),
    index("insight_reach_day").on(table.day),
  ],
);

/** How far each source of counts has been added to the rows above, so that what is sent twice is added once. */
export const insightCursors = sqliteTable("insight_cursors", {
  source: text("source").primaryKey(),
  position: integer("position").notNull(),
  modified: integer("modified").notNull(),
});
