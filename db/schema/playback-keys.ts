import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { PLAYBACK_PROVIDERS } from "#db/enums.ts";
import { id, siteId, tracked } from "./columns.ts";

/** The keys by which a site's content responses sign URLs; of several for a provider, the newest signs. */
export const playbackKeys = sqliteTable(
  "playback_keys",
  {
    id: id(),
    siteId: siteId(),
    provider: text("provider", { enum: PLAYBACK_PROVIDERS }).notNull(),
    /** What the provider calls the key. */
    keyId: text("key_id").notNull(),
    keySealed: text("key_sealed").notNull(),
    /** For how long a URL is valid, beside the video's own duration. */
    lifetimeSeconds: integer("lifetime_seconds").notNull(),
    ...tracked(),
  },
  (table) => [
    index("playback_keys_site_created").on(table.siteId, table.created, table.id),
    index("playback_keys_site_provider").on(table.siteId, table.provider, table.created),
  ],
);

export type PlaybackKeyRow = typeof playbackKeys.$inferSelect;
