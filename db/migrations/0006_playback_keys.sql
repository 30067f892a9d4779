CREATE TABLE `playback_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`provider` text NOT NULL,
	`key_id` text NOT NULL,
	`key_sealed` text NOT NULL,
	`lifetime_seconds` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `playback_keys_site_created` ON `playback_keys` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `playback_keys_site_provider` ON `playback_keys` (`site_id`,`provider`,`created`);--> statement-breakpoint
ALTER TABLE `streams` ADD `playback` text;--> statement-breakpoint
ALTER TABLE `videos` ADD `playback` text;