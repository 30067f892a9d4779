import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { FactTypes, StatMapping } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** External systems that send events. Their secrets are sealed rather than hashed, because their signatures are verified with them. */
export const dataProviders = sqliteTable(
  "data_providers",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    /** JSON Schema of the events. */
    schema: text("schema", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    /** The types of the schema's facts, by their dotted paths. */
    facts: text("facts", { mode: "json" }).$type<FactTypes>().notNull(),
    ownerName: text("owner_name").notNull(),
    ownerEmail: text("owner_email").notNull(),
    realtime: integer("realtime", { mode: "boolean" }).notNull(),
    /** Seconds for which a fact stays valid; null: forever. */
    ttl: integer("ttl"),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    secretSealed: text("secret_sealed").notNull(),
    /** After a rotation, the previous secret is valid until `previousExpires`. */
    previousSecretSealed: text("previous_secret_sealed"),
    previousExpires: time("previous_expires"),
    /** The version of the checks that the schema has passed through. */
    schemaChecks: integer("schema_checks").notNull().default(0),
    /** The finding of those checks for which its events are rejected. */
    disabledReason: text("disabled_reason"),
    /** What of its events is kept as match facts; null: nothing. Set by the site, so that the provider's own updates keep it. */
    statMapping: text("stat_mapping", { mode: "json" }).$type<StatMapping>(),
    ...tracked(),
  },
  (table) => [
    index("data_providers_site_created").on(table.siteId, table.created, table.id),
    index("data_providers_schema_checks").on(table.schemaChecks),
  ],
);

/** Events that providers sent, kept for a week. */
export const providerEvents = sqliteTable(
  "provider_events",
  {
    id: id(),
    siteId: siteId(),
    providerId: text("provider_id").notNull(),
    /** The provider's id of the event, or our own if it has none. */
    externalId: text("external_id").notNull(),
    event: text("event", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    created: time("created").notNull(),
  },
  (table) => [
    uniqueIndex("provider_events_external").on(table.providerId, table.externalId),
    index("provider_events_provider_created").on(table.siteId, table.providerId, table.created, table.id),
    index("provider_events_created").on(table.created),
  ],
);

export type DataProviderRow = typeof dataProviders.$inferSelect;
