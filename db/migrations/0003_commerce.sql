CREATE TABLE `member_exports` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`file_name` text NOT NULL,
	`status` text NOT NULL,
	`rows` integer DEFAULT 0 NOT NULL,
	`total_rows` integer NOT NULL,
	`pieces` text NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`last_created` integer DEFAULT 0 NOT NULL,
	`last_id` text DEFAULT '' NOT NULL,
	`lease` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`completed` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `member_exports_created` ON `member_exports` (`created`);--> statement-breakpoint
CREATE INDEX `member_exports_unfinished` ON `member_exports` (`lease`) WHERE "member_exports"."status" in ('pending', 'running');--> statement-breakpoint
DROP INDEX `subscriptions_site_created`;--> statement-breakpoint
CREATE INDEX `subscriptions_site_modified` ON `subscriptions` (`site_id`,`modified`,`id`);--> statement-breakpoint
DROP INDEX `account_entitlements_account`;--> statement-breakpoint
ALTER TABLE `account_entitlements` ADD `price` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `account_entitlements` ADD `refunded` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `account_entitlements` ADD `date_ends` integer;--> statement-breakpoint
CREATE INDEX `account_entitlements_ending` ON `account_entitlements` (`date_ends`) WHERE "account_entitlements"."status" = 'cancelScheduled';--> statement-breakpoint
CREATE INDEX `account_entitlements_account` ON `account_entitlements` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `accounts_site_name` ON `accounts` (`site_id`,`normalized_name`,`id`);