CREATE TABLE `claims` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`quest_id` text NOT NULL,
	`account_id` text NOT NULL,
	`product_id` text,
	`reward_type` text NOT NULL,
	`status` text NOT NULL,
	`message` text,
	`drawn` integer DEFAULT false NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `claims_quest_account` ON `claims` (`site_id`,`quest_id`,`account_id`);--> statement-breakpoint
CREATE INDEX `claims_site_modified` ON `claims` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `claims_account` ON `claims` (`site_id`,`account_id`,`modified`,`id`);--> statement-breakpoint
CREATE TABLE `quest_reports` (
	`site_id` text NOT NULL,
	`quest_id` text NOT NULL,
	`account_id` text NOT NULL,
	`array_id` text NOT NULL,
	`value` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`site_id`, `quest_id`, `account_id`, `array_id`, `value`)
);
--> statement-breakpoint
CREATE INDEX `quest_reports_account` ON `quest_reports` (`site_id`,`account_id`);--> statement-breakpoint
CREATE TABLE `quests` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`reward_description` text NOT NULL,
	`reward_image` text,
	`reward_type` text NOT NULL,
	`product_id` text,
	`regions` text NOT NULL,
	`claimed_message` text NOT NULL,
	`time_minimum` integer,
	`time_maximum` integer,
	`webhook_id` text,
	`webhook_type` text,
	`webhook_value` text,
	`channel_ids` text NOT NULL,
	`actions` text NOT NULL,
	`tags` text NOT NULL,
	`raffle_seed` text,
	`raffle_commitment` text,
	`raffle_draw` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `quests_site_modified` ON `quests` (`site_id`,`modified`,`id`);