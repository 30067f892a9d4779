CREATE TABLE `site_shards` (
	`site_id` text PRIMARY KEY NOT NULL,
	`shard` integer NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `site_slugs` (
	`slug` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `site_slugs_site` ON `site_slugs` (`site_id`);--> statement-breakpoint
CREATE TRIGGER sites_insert_slug BEFORE INSERT ON sites
WHEN EXISTS (SELECT 1 FROM site_slugs WHERE slug = new.slug AND site_id <> new.id) BEGIN
  SELECT raise(ABORT, 'UNIQUE constraint failed: sites.slug');
END;
--> statement-breakpoint
CREATE TRIGGER sites_update_slug BEFORE UPDATE OF slug ON sites
WHEN EXISTS (SELECT 1 FROM site_slugs WHERE slug = new.slug AND site_id <> new.id) BEGIN
  SELECT raise(ABORT, 'UNIQUE constraint failed: sites.slug');
END;
--> statement-breakpoint
CREATE TRIGGER site_slugs_insert_slug BEFORE INSERT ON site_slugs
WHEN EXISTS (SELECT 1 FROM sites WHERE slug = new.slug AND id <> new.site_id) BEGIN
  SELECT raise(ABORT, 'UNIQUE constraint failed: sites.slug');
END;
