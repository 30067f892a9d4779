import { foreignKey, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { STREAM_CALLS } from "#db/enums.ts";
import type { PlaybackSettings } from "#db/types.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** External systems that run streams. The bearer is sealed, because calls to them send it; `authorizationHash`, a keyed hash, identifies callers. */
export const streamProviders = sqliteTable(
  "stream_providers",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    canGenerateCaptions: integer("can_generate_captions", { mode: "boolean" }).notNull(),
    canSupport4K: integer("can_support_4k", { mode: "boolean" }).notNull(),
    createStream: text("create_stream").notNull(),
    deleteStream: text("delete_stream").notNull(),
    startStream: text("start_stream").notNull(),
    stopStream: text("stop_stream").notNull(),
    authorizationSealed: text("authorization_sealed").notNull(),
    authorizationHash: text("authorization_hash").notNull().unique(),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("stream_providers_site_name").on(table.siteId, table.name),
    index("stream_providers_site_created").on(table.siteId, table.created, table.id),
  ],
);

export const streams = sqliteTable(
  "streams",
  {
    id: id(),
    siteId: siteId(),
    title: text("title").notNull(),
    channelId: text("channel_id"),
    /** The name of the provider on the site. */
    provider: text("provider").notNull(),
    providerStreamId: text("provider_stream_id").notNull(),
    ingestUrl: text("ingest_url").notNull(),
    playbackUrl: text("playback_url").notNull(),
    streamKeySealed: text("stream_key_sealed").notNull(),
    playback: text("playback", { mode: "json" }).$type<PlaybackSettings>(),
    fallbackImageUrl: text("fallback_image_url"),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    isLive: integer("is_live", { mode: "boolean" }).notNull(),
    /** When it went live; null while it isn't. */
    liveSince: time("live_since"),
    /** The provider call in progress, the request that makes it, and its start: of several requests, only one makes it. */
    call: text("call", { enum: STREAM_CALLS }),
    callBy: text("call_by"),
    callAt: time("call_at"),
    ...tracked(),
  },
  (table) => [
    foreignKey({ columns: [table.siteId, table.provider], foreignColumns: [streamProviders.siteId, streamProviders.name] }),
    index("streams_site_created").on(table.siteId, table.created, table.id),
    index("streams_site_channel").on(table.siteId, table.channelId, table.created, table.id),
    index("streams_provider").on(table.siteId, table.provider),
  ],
);

/** Streams that were requested from a provider and aren't stored yet. Abandoned ones are deleted at the provider. */
export const streamDrafts = sqliteTable(
  "stream_drafts",
  {
    id: id(),
    siteId: siteId(),
    title: text("title").notNull(),
    provider: text("provider").notNull(),
    created: integer("created").notNull(),
    /** When it counts as abandoned. Moving it claims the draft. */
    due: integer("due").notNull(),
  },
  (table) => [
    foreignKey({ columns: [table.siteId, table.provider], foreignColumns: [streamProviders.siteId, streamProviders.name] }),
    index("stream_drafts_due").on(table.due),
    index("stream_drafts_provider").on(table.siteId, table.provider),
  ],
);

export type StreamProviderRow = typeof streamProviders.$inferSelect;

export type DraftRow = typeof streamDrafts.$inferSelect;

export type StreamRow = typeof streams.$inferSelect;
