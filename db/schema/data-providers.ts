import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { FactTypes } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** Outside systems that tell of what happens. Their secrets are sealed, since each call of theirs is checked with them. */
export const dataProviders = sqliteTable(
  "data_providers",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    /** JSON Schema of the events. */
    schema: text("schema", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    /** What the schema says of facts, by their dotted paths. */
    facts: text("facts", { mode: "json" }).$type<FactTypes>().notNull(),
    ownerName: text("owner_name").notNull(),
    ownerEmail: text("owner_email").notNull(),
    realtime: integer("realtime", { mode: "boolean" }).notNull(),
    /** Seconds for which a fact stays usable; null: for good. */
    ttl: integer("ttl"),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    secretSealed: text("secret_sealed").notNull(),
    /** After a rotation, the secret before works until `previousExpires`. */
    previousSecretSealed: text("previous_secret_sealed"),
    previousExpires: time("previous_expires"),
    /** Version of the checks that the schema has been through. */
    schemaChecks: integer("schema_checks").notNull().default(0),
    /** Why its events are rejected: what those checks found. */
    disabledReason: text("disabled_reason"),
    ...tracked(),
  },
  (table) => [
    index("data_providers_site_created").on(table.siteId, table.created, table.id),
    index("data_providers_schema_checks").on(table.schemaChecks),
  ],
);

/** What providers have sent, for a week. */
export const providerEvents = sqliteTable(
  "provider_events",
  {
    id: id(),
    siteId: siteId(),
    providerId: text("provider_id").notNull(),
    /** The event's id at the provider; our own where it gave none. */
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
