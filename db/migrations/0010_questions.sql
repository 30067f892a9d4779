CREATE TABLE `question_upvotes` (
	`site_id` text NOT NULL,
	`question_id` text NOT NULL,
	`account_id` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`question_id`, `account_id`)
);
--> statement-breakpoint
CREATE INDEX `question_upvotes_account` ON `question_upvotes` (`site_id`,`account_id`);--> statement-breakpoint
CREATE TABLE `questions` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`account_id` text NOT NULL,
	`text` text NOT NULL,
	`original` text,
	`state` text NOT NULL,
	`upvotes` integer NOT NULL,
	`answer` text,
	`answered_by` text,
	`merged_into` text,
	`revision` integer DEFAULT 1 NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `questions_channel_upvotes` ON `questions` (`site_id`,`channel_id`,`upvotes`,`id`);--> statement-breakpoint
CREATE INDEX `questions_channel_created` ON `questions` (`site_id`,`channel_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `questions_account` ON `questions` (`site_id`,`account_id`);--> statement-breakpoint
CREATE INDEX `questions_answered_by` ON `questions` (`site_id`,`answered_by`) WHERE "questions"."answered_by" is not null;--> statement-breakpoint
CREATE INDEX `questions_merged_into` ON `questions` (`merged_into`) WHERE "questions"."merged_into" is not null;