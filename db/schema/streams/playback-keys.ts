import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { PLAYBACK_PROVIDERS } from "#db/enums.ts";
import { id, siteId, tracked } from "#db/schema/columns.ts";

/** The keys with which a site's content responses sign URLs. If a provider has several, the newest is used. */
export const playbackKeys = sqliteTable(
  "playback_keys",
  {
    id: id(),
    siteId: siteId(),
    provider: text("provider", { enum: PLAYBACK_PROVIDERS }).notNull(),
    /** The provider's id of the key. */
    keyId: text("key_id").notNull(),
    keySealed: text("key_sealed").notNull(),
    /** How long a URL is valid, in addition to the video's duration. */
    lifetimeSeconds: integer("lifetime_seconds").notNull(),
    ...tracked(),
  },
  (table) => [
    index("playback_keys_site_created").on(table.siteId, table.created, table.id),
    index("playback_keys_site_provider").on(table.siteId, table.provider, table.created),
  ],
);

export type PlaybackKeyRow = typeof playbackKeys.$inferSelect;
