import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { OVERLAY_TYPES } from "#db/enums.ts";
import type { OverlayContents, OverlayCta } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

export const overlays = sqliteTable(
  "overlays",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    type: text("type", { enum: OVERLAY_TYPES }).notNull(),
    duration: integer("duration").notNull(),
    contents: text("contents", { mode: "json" }).$type<OverlayContents>().notNull(),
    cta: text("cta", { mode: "json" }).$type<OverlayCta>(),
    ...tracked(),
  },
  (table) => [index("overlays_site_created").on(table.siteId, table.created, table.id)],
);

/**
 * Broadcasts by channel, until they end; `channelId` "" means every channel of the site.
 * The channel's Durable Object is the source of truth for active overlays.
 */
export const broadcasts = sqliteTable(
  "broadcasts",
  {
    id: text("id").notNull(),
    channelId: text("channel_id").notNull(),
    siteId: siteId(),
    overlayId: text("overlay_id").notNull(),
    tag: text("tag"),
    /** Seconds of media time. */
    timecode: real("timecode"),
    startsAt: integer("starts_at").notNull(),
    endsAt: integer("ends_at").notNull(),
    clearedAt: integer("cleared_at"),
    /** The slug of the segment that it was sent to. */
    segment: text("segment"),
    /** The polls that it shows. */
    polls: text("polls", { mode: "json" }).$type<string[]>(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.channelId] }),
    index("broadcasts_site_ends").on(table.siteId, table.endsAt),
    index("broadcasts_ends").on(table.endsAt),
  ],
);

export type OverlayRow = typeof overlays.$inferSelect;

export type BroadcastRow = typeof broadcasts.$inferSelect;
