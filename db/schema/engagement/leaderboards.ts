import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { LEADERBOARD_PERIODS } from "#db/enums.ts";
import type { PointsRule } from "#db/types.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** What ranks viewers by points. The points themselves are in the board's own object, which derives the ranks from them. */
export const leaderboards = sqliteTable(
  "leaderboards",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    period: text("period", { enum: LEADERBOARD_PERIODS }).notNull(),
    /** Rules count what happens between these, ms; null for a board of all time. */
    startsAt: time("starts_at"),
    endsAt: time("ends_at"),
    /** The channels that it counts and is shown on; empty for the whole site. */
    channelIds: text("channel_ids", { mode: "json" }).$type<string[]>().notNull(),
    rules: text("rules", { mode: "json" }).$type<PointsRule[]>().notNull(),
    ...tracked(),
  },
  (table) => [
    index("leaderboards_site_created").on(table.siteId, table.created, table.id),
    index("leaderboards_site_name").on(table.siteId, table.name, table.id),
  ],
);

export type LeaderboardRow = typeof leaderboards.$inferSelect;
