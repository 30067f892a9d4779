CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`global_account_id` text,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`normalized_name` text NOT NULL,
	`password_hash` text,
	`password_version` integer DEFAULT 1 NOT NULL,
	`email_hash` text NOT NULL,
	`roles` text NOT NULL,
	`tags` text NOT NULL,
	`third_party_auth_providers` text NOT NULL,
	`marketing_optin` integer NOT NULL,
	`last_login` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_site_email` ON `accounts` (`site_id`,`email`);--> statement-breakpoint
CREATE INDEX `accounts_site_created` ON `accounts` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `accounts_global` ON `accounts` (`global_account_id`) WHERE "accounts"."global_account_id" is not null;--> statement-breakpoint
CREATE TABLE `global_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`password_hash` text NOT NULL,
	`password_version` integer DEFAULT 1 NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `global_accounts_email_unique` ON `global_accounts` (`email`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`audience` text NOT NULL,
	`account_id` text NOT NULL,
	`generation` integer NOT NULL,
	`created` integer NOT NULL,
	`expires` integer NOT NULL,
	`revoked` integer
);
--> statement-breakpoint
CREATE INDEX `sessions_account` ON `sessions` (`account_id`);--> statement-breakpoint
CREATE INDEX `sessions_expires` ON `sessions` (`expires`);--> statement-breakpoint
CREATE TABLE `user_profiles` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_profiles_account` ON `user_profiles` (`site_id`,`account_id`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`state` text NOT NULL,
	`lease` integer NOT NULL,
	`status` integer,
	`headers` text,
	`body` text,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_expires` ON `idempotency_keys` (`expires`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`site_id` text NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`resource` text NOT NULL,
	`data` text NOT NULL,
	`actor` text NOT NULL,
	`request_id` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_site` ON `outbox` (`site_id`,`id`);--> statement-breakpoint
CREATE TABLE `broadcasts` (
	`id` text NOT NULL,
	`channel_id` text NOT NULL,
	`site_id` text NOT NULL,
	`overlay_id` text NOT NULL,
	`tag` text,
	`timecode` real,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`cleared_at` integer,
	PRIMARY KEY(`id`, `channel_id`)
);
--> statement-breakpoint
CREATE INDEX `broadcasts_site_ends` ON `broadcasts` (`site_id`,`ends_at`);--> statement-breakpoint
CREATE INDEX `broadcasts_ends` ON `broadcasts` (`ends_at`);--> statement-breakpoint
CREATE TABLE `overlays` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`type` text NOT NULL,
	`duration` integer NOT NULL,
	`contents` text NOT NULL,
	`cta` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `overlays_site_created` ON `overlays` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `pages` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`type` text NOT NULL,
	`slug` text NOT NULL,
	`seo` text NOT NULL,
	`style` text NOT NULL,
	`active_renderers` text NOT NULL,
	`renderers` text NOT NULL,
	`data` text NOT NULL,
	`tags` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pages_site_slug` ON `pages` (`site_id`,`slug`);--> statement-breakpoint
CREATE INDEX `pages_site_id` ON `pages` (`site_id`,`id`);--> statement-breakpoint
CREATE INDEX `pages_site_type` ON `pages` (`site_id`,`type`,`id`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`hash` text NOT NULL,
	`name` text NOT NULL,
	`client_name` text,
	`roles` text NOT NULL,
	`expires` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_site` ON `api_keys` (`site_id`);--> statement-breakpoint
CREATE TABLE `sites` (
	`id` text PRIMARY KEY NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`collections` text NOT NULL,
	`regions` text NOT NULL,
	`settings` text NOT NULL,
	`style` text NOT NULL,
	`features` text NOT NULL,
	`shards` text NOT NULL,
	`tags` text NOT NULL,
	`device_limit` integer NOT NULL,
	`service_charge_rate` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sites_slug_unique` ON `sites` (`slug`);