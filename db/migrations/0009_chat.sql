CREATE TABLE `chat_bans` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`channel_id` text NOT NULL,
	`until` integer,
	`reason` text NOT NULL,
	`created_by` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `chat_bans_account` ON `chat_bans` (`site_id`,`account_id`,`kind`,`channel_id`);--> statement-breakpoint
CREATE INDEX `chat_bans_site_created` ON `chat_bans` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `chat_rooms` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`pending` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `chat_rooms_site` ON `chat_rooms` (`site_id`,`id`);--> statement-breakpoint
CREATE INDEX `chat_rooms_pending` ON `chat_rooms` (`site_id`,`id`) WHERE "chat_rooms"."pending" = 1;--> statement-breakpoint
CREATE TABLE `chat_settings` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`mode` text NOT NULL,
	`slow_seconds` integer NOT NULL,
	`premoderate` integer NOT NULL,
	`skus` text NOT NULL,
	`emoji` text NOT NULL,
	`languages` text NOT NULL,
	`pinned_message_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `accounts_staff` ON `accounts` (`site_id`) WHERE "accounts"."roles" <> '[]';