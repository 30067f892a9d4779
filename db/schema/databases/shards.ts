import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { siteId, time } from "#db/schema/columns.ts";

// Only the directory's database has rows in these tables: which sites are on other shards than the first, and their slugs.

/** The shard of a site that isn't on the first one. */
export const siteShards = sqliteTable("site_shards", {
  siteId: siteId().primaryKey(),
  /** The number in the binding's name: 2 for `DB_2`. */
  shard: integer("shard").notNull(),
  created: time("created").notNull(),
});

/**
 * The slugs of these sites, so that a slug is unique in the deployment: triggers compare them with those of the first shard's sites. A slug
 * is reserved before the site is changed, and released by the cron once the site has another one.
 */
export const siteSlugs = sqliteTable(
  "site_slugs",
  {
    slug: text("slug").primaryKey(),
    siteId: siteId(),
    created: time("created").notNull(),
  },
  (table) => [index("site_slugs_site").on(table.siteId)],
);
