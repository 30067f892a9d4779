import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The open link that sets up a site, at most one per deployment. It is deleted when it is used, or replaced by a new one. */
export const setupLinks = sqliteTable("setup_links", {
  /** SHA-256 of the token. */
  hash: text("hash").primaryKey(),
  expires: integer("expires").notNull(),
  created: integer("created").notNull(),
});
