CREATE TABLE `channel_templates` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`icon` text,
	`panels` text NOT NULL,
	`rules` text NOT NULL,
	`theme` text,
	`creator` text NOT NULL,
	`owner` text NOT NULL,
	`archived` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channel_templates_site_modified` ON `channel_templates` (`site_id`,`archived`,`modified`,`id`);--> statement-breakpoint
CREATE TABLE `devices` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`device_id` text NOT NULL,
	`description` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_account_device` ON `devices` (`site_id`,`account_id`,`device_id`);--> statement-breakpoint
CREATE INDEX `devices_account_created` ON `devices` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `watch_time` (
	`site_id` text NOT NULL,
	`page_id` text NOT NULL,
	`viewer` text NOT NULL,
	`seconds` integer NOT NULL,
	`modified` integer NOT NULL,
	PRIMARY KEY(`site_id`, `page_id`, `viewer`)
);
--> statement-breakpoint
CREATE INDEX `watch_time_viewer` ON `watch_time` (`site_id`,`viewer`);