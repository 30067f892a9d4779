CREATE TABLE `insight_cursors` (
	`source` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL,
	`modified` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `insight_hours` (
	`site_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`hour` integer NOT NULL,
	`metric` text NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`site_id`, `channel_id`, `hour`, `metric`)
);
--> statement-breakpoint
CREATE INDEX `insight_hours_site` ON `insight_hours` (`site_id`,`hour`);--> statement-breakpoint
CREATE INDEX `insight_hours_hour` ON `insight_hours` (`hour`);--> statement-breakpoint
CREATE TABLE `insight_reach` (
	`site_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`day` integer NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`site_id`, `channel_id`, `day`, `kind`, `target_id`)
);
--> statement-breakpoint
CREATE INDEX `insight_reach_target` ON `insight_reach` (`site_id`,`target_id`);--> statement-breakpoint
CREATE INDEX `insight_reach_day` ON `insight_reach` (`day`);