import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { siteId } from "./columns.ts";

/** Events that changes wrote in their own batch and that the site's log hasn't taken yet; `id` is the commit order. */
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
    /** "<method> <path>" of the operation; null if Tifo caused the event itself. */
    origin: text("origin"),
    created: integer("created").notNull(),
  },
  (table) => [index("outbox_site").on(table.siteId, table.id)],
);

/** Responses to POST, PUT and PATCH with an Idempotency-Key, kept for 24 h. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    /** SHA-256 of site, caller, operation and the caller's key. */
    id: text("id").primaryKey(),
    /** Empty if it belongs to no site, or was written by a release without this column. */
    siteId: siteId().default(""),
    fingerprint: text("fingerprint").notNull(),
    /** running until `lease` expires; committed once its change is; answered once the response is stored. */
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
