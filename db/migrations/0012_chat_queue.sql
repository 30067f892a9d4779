CREATE TABLE `chat_queue` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`since` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `chat_queue_site` ON `chat_queue` (`site_id`,`since`,`id`);--> statement-breakpoint
CREATE INDEX `chat_queue_channel` ON `chat_queue` (`site_id`,`channel_id`);--> statement-breakpoint
DROP INDEX `chat_bans_account`;--> statement-breakpoint
ALTER TABLE `chat_bans` ADD `device_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `chat_bans_target` ON `chat_bans` (`site_id`,`account_id`,`device_id`,`kind`,`channel_id`);--> statement-breakpoint
DROP INDEX `chat_rooms_pending`;--> statement-breakpoint
ALTER TABLE `chat_rooms` DROP COLUMN `pending`;