CREATE TABLE `outputs` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`created_by` text,
	`expires` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outputs_hash_unique` ON `outputs` (`hash`);--> statement-breakpoint
CREATE INDEX `outputs_channel` ON `outputs` (`site_id`,`channel_id`,`created`,`id`);