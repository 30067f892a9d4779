CREATE TABLE `viewer_activity` (
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`seconds` real NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`site_id`, `account_id`, `kind`, `target_id`, `channel_id`)
);
--> statement-breakpoint
CREATE INDEX `viewer_activity_last` ON `viewer_activity` (`last_at`);