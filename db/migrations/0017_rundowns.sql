CREATE TABLE `rundown_operators` (
	`site_id` text NOT NULL,
	`rundown_id` text NOT NULL,
	`kind` text NOT NULL,
	`operator_id` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`rundown_id`, `operator_id`)
);
--> statement-breakpoint
CREATE INDEX `rundown_operators_site` ON `rundown_operators` (`site_id`,`operator_id`);--> statement-breakpoint
CREATE INDEX `rundown_operators_seen` ON `rundown_operators` (`seen_at`);--> statement-breakpoint
CREATE TABLE `rundown_takes` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`rundown_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`generation` integer NOT NULL,
	`item_id` text NOT NULL,
	`kind` text NOT NULL,
	`action` text,
	`name` text NOT NULL,
	`target_id` text,
	`trigger` text NOT NULL,
	`cause` text,
	`taken_by` text,
	`taken_at` integer NOT NULL,
	`state` text NOT NULL,
	`message` text,
	`ends_at` integer,
	`cleared_at` integer,
	`cleared_by` text,
	`receipt` text,
	`receipt_due_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rundown_takes_generation` ON `rundown_takes` (`rundown_id`,`generation`);--> statement-breakpoint
CREATE UNIQUE INDEX `rundown_takes_cause` ON `rundown_takes` (`rundown_id`,`cause`) WHERE "rundown_takes"."cause" is not null;--> statement-breakpoint
CREATE INDEX `rundown_takes_log` ON `rundown_takes` (`site_id`,`rundown_id`,`generation`,`id`);--> statement-breakpoint
CREATE INDEX `rundown_takes_channel` ON `rundown_takes` (`site_id`,`channel_id`);--> statement-breakpoint
CREATE INDEX `rundown_takes_receipt_due` ON `rundown_takes` (`receipt_due_at`) WHERE "rundown_takes"."receipt_due_at" is not null;--> statement-breakpoint
CREATE INDEX `rundown_takes_pending` ON `rundown_takes` (`taken_at`) WHERE "rundown_takes"."state" = 'pending';--> statement-breakpoint
CREATE TABLE `rundowns` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`name` text NOT NULL,
	`items` text NOT NULL,
	`generation` integer NOT NULL,
	`last_item_id` text,
	`armed_item_id` text,
	`held` integer NOT NULL,
	`timed_at` integer,
	`follow_at` integer,
	`follow_from` text,
	`edited_by` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rundowns_site_created` ON `rundowns` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `rundowns_site_name` ON `rundowns` (`site_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `rundowns_channel_created` ON `rundowns` (`site_id`,`channel_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `rundowns_timed` ON `rundowns` (`timed_at`,`site_id`) WHERE "rundowns"."timed_at" is not null;--> statement-breakpoint
CREATE INDEX `rundowns_follow` ON `rundowns` (`follow_at`,`site_id`) WHERE "rundowns"."follow_at" is not null;--> statement-breakpoint
CREATE TABLE `site_archives` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`table_index` integer NOT NULL,
	`last_row` integer NOT NULL,
	`offset` integer NOT NULL,
	`piece` integer NOT NULL,
	`had_site` integer NOT NULL,
	`rows` integer NOT NULL,
	`bytes` integer NOT NULL,
	`skipped` integer NOT NULL,
	`pieces` text NOT NULL,
	`message` text,
	`lease` integer NOT NULL,
	`attempts` integer NOT NULL,
	`completed` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `site_archives_site` ON `site_archives` (`site_id`,`created`);--> statement-breakpoint
CREATE INDEX `site_archives_created` ON `site_archives` (`created`);--> statement-breakpoint
CREATE INDEX `site_archives_unfinished` ON `site_archives` (`lease`) WHERE "site_archives"."status" not in ('complete', 'failed');