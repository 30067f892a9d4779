CREATE TABLE `alerts` (
	`name` text PRIMARY KEY NOT NULL,
	`is_raised` integer NOT NULL,
	`changed` integer NOT NULL,
	`crossing` integer,
	`value` real NOT NULL,
	`is_sent` integer NOT NULL,
	`problem` text
);
--> statement-breakpoint
CREATE TABLE `backup_runs` (
	`day` text PRIMARY KEY NOT NULL,
	`cursor` text NOT NULL,
	`sites` integer NOT NULL,
	`started` integer NOT NULL,
	`completed` integer
);
--> statement-breakpoint
CREATE TABLE `request_counts` (
	`since` integer PRIMARY KEY NOT NULL,
	`requests` integer NOT NULL,
	`errors` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `site_archives_created`;--> statement-breakpoint
CREATE INDEX `site_archives_moved` ON `site_archives` (`created`) WHERE "site_archives"."kind" <> 'backup';--> statement-breakpoint
CREATE INDEX `site_archives_backups` ON `site_archives` (`created`,`id`) WHERE "site_archives"."kind" = 'backup';