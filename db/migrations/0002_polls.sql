CREATE TABLE `poll_responses` (
	`site_id` text NOT NULL,
	`poll_id` text NOT NULL,
	`account_id` text NOT NULL,
	`n` integer NOT NULL,
	`answer_id` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`poll_id`, `account_id`, `n`)
);
--> statement-breakpoint
CREATE INDEX `poll_responses_account` ON `poll_responses` (`site_id`,`account_id`);--> statement-breakpoint
CREATE TABLE `polls` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`type` text NOT NULL,
	`question` text NOT NULL,
	`name` text NOT NULL,
	`answers` text NOT NULL,
	`correct_answer_id` text,
	`open` integer NOT NULL,
	`responses_per_viewer` integer NOT NULL,
	`hide_results` integer NOT NULL,
	`settled` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `polls_site_created` ON `polls` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `polls_site_name` ON `polls` (`site_id`,`name`,`id`);--> statement-breakpoint
CREATE INDEX `polls_site_open` ON `polls` (`site_id`,`modified`) WHERE "polls"."open" = 1;