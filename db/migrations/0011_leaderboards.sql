CREATE TABLE `leaderboards` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`period` text NOT NULL,
	`starts_at` integer,
	`ends_at` integer,
	`channel_ids` text NOT NULL,
	`rules` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `leaderboards_site_created` ON `leaderboards` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `leaderboards_site_name` ON `leaderboards` (`site_id`,`name`,`id`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `leaderboard_hidden` integer DEFAULT false NOT NULL;