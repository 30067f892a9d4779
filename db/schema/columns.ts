import { integer, text } from "drizzle-orm/sqlite-core";

// Columns that most tables share.

export const id = () => text("id").primaryKey();
export const siteId = () => text("site_id").notNull();

/** Milliseconds since 1970 UTC. */
export const time = (name: string) => integer(name);

/** `version` counts the changes: it makes the ETag, and a change that read an older one is refused. */
export const tracked = () => ({
  created: integer("created").notNull(),
  modified: integer("modified").notNull(),
  version: integer("version").notNull().default(1),
});
