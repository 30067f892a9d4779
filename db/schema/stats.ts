import { index, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { StatValue } from "#db/types.ts";
import { id, siteId, time } from "./columns.ts";

// What data providers report about the people and teams of a channel's event. Ids are derived from the provider's, so that an event
// that is processed twice writes the same rows.

/** A player, a team or whatever else the site's mapping calls an entity. */
export const statEntities = sqliteTable(
  "stat_entities",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    type: text("type").notNull(),
    /** The provider's id. */
    externalId: text("external_id").notNull(),
    name: text("name").notNull(),
    image: text("image"),
    /** The name of the team, or of another group that lists show it in. */
    team: text("team"),
    /** When the data was reported. */
    at: time("at").notNull(),
    eventId: text("event_id").notNull(),
    created: time("created").notNull(),
  },
  (table) => [
    index("stat_entities_name").on(table.siteId, table.channelId, table.name, table.id),
    index("stat_entities_created").on(table.siteId, table.channelId, table.created, table.id),
  ],
);

/** The latest value of each fact. */
export const statFacts = sqliteTable(
  "stat_facts",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    entityId: text("entity_id").notNull(),
    fact: text("fact").notNull(),
    value: text("value", { mode: "json" }).$type<StatValue>().notNull(),
    at: time("at").notNull(),
    eventId: text("event_id").notNull(),
  },
  (table) => [index("stat_facts_entity").on(table.entityId, table.fact), index("stat_facts_channel").on(table.siteId, table.channelId)],
);

/** Every value that was reported, for 30 days. */
export const statHistory = sqliteTable(
  "stat_history",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    entityId: text("entity_id").notNull(),
    fact: text("fact").notNull(),
    value: text("value", { mode: "json" }).$type<StatValue>().notNull(),
    at: time("at").notNull(),
    eventId: text("event_id").notNull(),
    created: time("created").notNull(),
  },
  (table) => [
    index("stat_history_entity").on(table.entityId, table.at, table.id),
    index("stat_history_channel").on(table.siteId, table.channelId),
    index("stat_history_created").on(table.created),
  ],
);

/** Moments of a channel's event, with the media time to jump to. */
export const keyPlays = sqliteTable(
  "key_plays",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    kind: text("kind").notNull(),
    title: text("title").notNull(),
    description: text("description"),
    /** The entity that it is about. */
    entityId: text("entity_id"),
    /** Seconds of media time. */
    mediaTime: real("media_time"),
    at: time("at").notNull(),
    eventId: text("event_id").notNull(),
    created: time("created").notNull(),
  },
  (table) => [index("key_plays_channel_at").on(table.siteId, table.channelId, table.at, table.id)],
);

export type StatEntityRow = typeof statEntities.$inferSelect;
export type StatFactRow = typeof statFacts.$inferSelect;
export type StatHistoryRow = typeof statHistory.$inferSelect;
export type KeyPlayRow = typeof keyPlays.$inferSelect;
