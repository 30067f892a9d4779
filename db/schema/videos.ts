import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { UPLOAD_STATUSES, VIDEO_ACCESS, VIDEO_PLAYERS, VIDEO_TYPES } from "#db/enums.ts";
import type { PlaybackSettings } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Recordings and livestreams, wherever they are hosted. */
export const videos = sqliteTable(
  "videos",
  {
    id: id(),
    siteId: siteId(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    durationSeconds: real("duration_seconds").notNull(),
    player: text("player", { enum: VIDEO_PLAYERS }).notNull(),
    type: text("type", { enum: VIDEO_TYPES }).notNull(),
    url: text("url").notNull(),
    thumbnail: text("thumbnail"),
    uploadStatus: text("upload_status", { enum: UPLOAD_STATUSES }).notNull(),
    /** SKUs that unlock it. */
    subscriptions: text("subscriptions", { mode: "json" }).$type<string[]>().notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    /** The stream that it is a recording of. */
    streamId: text("stream_id"),
    /** A livestream's id at the system that broadcasts it. */
    liveBroadcastId: text("live_broadcast_id"),
    /** `gated` applies regardless of its pages. A video that leaves a restricted page becomes gated. */
    access: text("access", { enum: VIDEO_ACCESS }).notNull().default("inherit"),
    playback: text("playback", { mode: "json" }).$type<PlaybackSettings>(),
    ...tracked(),
  },
  (table) => [
    index("videos_site_modified").on(table.siteId, table.modified, table.id),
    index("videos_site_created").on(table.siteId, table.created, table.id),
    index("videos_site_title").on(table.siteId, table.title, table.id),
    index("videos_site_type").on(table.siteId, table.type, table.modified, table.id),
    index("videos_site_url").on(table.siteId, table.url),
    index("videos_site_broadcast").on(table.siteId, table.liveBroadcastId),
    index("videos_site_stream").on(table.siteId, table.streamId),
  ],
);

/** View counts, in a separate table so that views and changes of the video don't conflict. */
export const videoTotals = sqliteTable("video_totals", {
  videoId: text("video_id").primaryKey(),
  siteId: siteId(),
  views: integer("views").notNull(),
});

/** Devices whose view was counted recently, and when; deleted once they may count again. */
export const videoViews = sqliteTable(
  "video_views",
  {
    videoId: text("video_id").notNull(),
    /** A hash, so that devices can't be identified. */
    device: text("device").notNull(),
    counted: integer("counted").notNull(),
  },
  (table) => [primaryKey({ columns: [table.videoId, table.device] }), index("video_views_counted").on(table.counted)],
);

export type VideoRow = typeof videos.$inferSelect;
