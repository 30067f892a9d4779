import { integer, text } from "drizzle-orm/sqlite-core";

// Columns that most tables share.

export const id = () => text("id").primaryKey();
export const siteId = () => text("site_id").notNull();

/** Milliseconds since 1970 UTC. */
export const time = (name: string) => integer(name);

/** `version` counts changes. The ETag is derived from it, and a change based on an older version is rejected. */
export const tracked = () => ({
  created: integer("created").notNull(),
  modified: integer("modified").notNull(),
  version: integer("version").notNull().default(1),
});
