import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id, siteId, tracked } from "./columns.ts";
import type { SiteSettings, SiteStyle } from "#db/types.ts";

export const sites = sqliteTable("sites", {
  id: id(),
  slug: text("slug").notNull().unique(),
  name: text("name").notNull(),
  collections: text("collections", { mode: "json" }).$type<string[]>().notNull(),
  regions: text("regions", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
  settings: text("settings", { mode: "json" }).$type<SiteSettings>().notNull(),
  style: text("style", { mode: "json" }).$type<SiteStyle>().notNull(),
  features: text("features", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
  shards: text("shards", { mode: "json" }).$type<string[]>().notNull(),
  tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
  deviceLimit: integer("device_limit").notNull(),
  serviceChargeRate: integer("service_charge_rate"),
  ...tracked(),
});

/** Developer keys. Only the SHA-256 of a key is stored. */
export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: id(),
    siteId: siteId(),
    hash: text("hash").notNull().unique(),
    /** After a rotation, the previous key is valid until `previousExpires`. */
    previousHash: text("previous_hash").unique(),
    previousExpires: integer("previous_expires"),
    name: text("name").notNull(),
    clientName: text("client_name"),
    /** The account that created it; null: the deployment's operator, or unknown. */
    createdBy: text("created_by"),
    roles: text("roles", { mode: "json" }).$type<string[]>().notNull(),
    expires: integer("expires"),
    ...tracked(),
  },
  (table) => [index("api_keys_site").on(table.siteId)],
);

export type ApiKeyRow = typeof apiKeys.$inferSelect;

export type SiteRow = typeof sites.$inferSelect;
