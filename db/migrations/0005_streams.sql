CREATE TABLE `stream_drafts` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`provider` text NOT NULL,
	`created` integer NOT NULL,
	`due` integer NOT NULL,
	FOREIGN KEY (`site_id`,`provider`) REFERENCES `stream_providers`(`site_id`,`name`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `stream_drafts_due` ON `stream_drafts` (`due`);--> statement-breakpoint
CREATE INDEX `stream_drafts_provider` ON `stream_drafts` (`site_id`,`provider`);--> statement-breakpoint
CREATE TABLE `stream_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`can_generate_captions` integer NOT NULL,
	`can_support_4k` integer NOT NULL,
	`create_stream` text NOT NULL,
	`delete_stream` text NOT NULL,
	`start_stream` text NOT NULL,
	`stop_stream` text NOT NULL,
	`authorization_sealed` text NOT NULL,
	`authorization_hash` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `stream_providers_authorization_hash_unique` ON `stream_providers` (`authorization_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `stream_providers_site_name` ON `stream_providers` (`site_id`,`name`);--> statement-breakpoint
CREATE INDEX `stream_providers_site_created` ON `stream_providers` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `streams` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`channel_id` text,
	`provider` text NOT NULL,
	`provider_stream_id` text NOT NULL,
	`ingest_url` text NOT NULL,
	`playback_url` text NOT NULL,
	`stream_key_sealed` text NOT NULL,
	`fallback_image_url` text,
	`tags` text NOT NULL,
	`is_live` integer NOT NULL,
	`live_since` integer,
	`call` text,
	`call_by` text,
	`call_at` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`site_id`,`provider`) REFERENCES `stream_providers`(`site_id`,`name`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `streams_site_created` ON `streams` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `streams_site_channel` ON `streams` (`site_id`,`channel_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `streams_provider` ON `streams` (`site_id`,`provider`);