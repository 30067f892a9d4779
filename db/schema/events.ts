import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { siteId } from "./columns.ts";

/** Events that a change wrote in its own batch and that the site's log has yet to take; `id` is the order of commits. */
export const outbox = sqliteTable(
  "outbox",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    siteId: siteId(),
    eventId: text("event_id").notNull(),
    type: text("type").notNull(),
    resource: text("resource").notNull(),
    data: text("data", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    actor: text("actor").notNull(),
    requestId: text("request_id").notNull(),
    /** "<method> <path>" of the operation; null for what Tifo did by itself. */
    origin: text("origin"),
    created: integer("created").notNull(),
  },
  (table) => [index("outbox_site").on(table.siteId, table.id)],
);

/** Answers to POST, PUT and PATCH with an Idempotency-Key, for 24 h. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    /** SHA-256 of site, caller, operation and the key that the caller chose. */
    id: text("id").primaryKey(),
    fingerprint: text("fingerprint").notNull(),
    /** running until `lease`, then free again; committed once its change stands; answered with the answer. */
    state: text("state", { enum: ["running", "committed", "answered"] }).notNull(),
    lease: integer("lease").notNull(),
    status: integer("status"),
    headers: text("headers", { mode: "json" }).$type<Record<string, string>>(),
    body: text("body"),
    expires: integer("expires").notNull(),
  },
  (table) => [index("idempotency_keys_expires").on(table.expires)],
);

export type OutboxEvent = typeof outbox.$inferSelect;
