CREATE TABLE `account_links` (
	`site_id` text NOT NULL,
	`provider` text NOT NULL,
	`third_party_account_id` text NOT NULL,
	`account_id` text NOT NULL,
	PRIMARY KEY(`site_id`, `provider`, `third_party_account_id`)
);
--> statement-breakpoint
CREATE INDEX `account_links_account` ON `account_links` (`account_id`);--> statement-breakpoint
CREATE TABLE `intents` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`account_id` text,
	`source_id` text,
	`data` text NOT NULL,
	`created` integer NOT NULL,
	`expires` integer NOT NULL,
	`consumed` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `intents_hash_unique` ON `intents` (`hash`);--> statement-breakpoint
CREATE INDEX `intents_account` ON `intents` (`account_id`);--> statement-breakpoint
CREATE INDEX `intents_source` ON `intents` (`site_id`,`source_id`);--> statement-breakpoint
CREATE INDEX `intents_expires` ON `intents` (`expires`);--> statement-breakpoint
CREATE TABLE `password_resets` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`audience` text NOT NULL,
	`account_id` text NOT NULL,
	`password_version` integer NOT NULL,
	`base_url` text NOT NULL,
	`created` integer NOT NULL,
	`expires` integer NOT NULL,
	`used` integer
);
--> statement-breakpoint
CREATE INDEX `password_resets_account` ON `password_resets` (`account_id`,`created`);--> statement-breakpoint
CREATE INDEX `password_resets_expires` ON `password_resets` (`expires`);--> statement-breakpoint
ALTER TABLE `sessions` ADD `password_version` integer DEFAULT 1 NOT NULL;