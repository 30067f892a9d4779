CREATE TABLE `access_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`access_code` text collate nocase NOT NULL,
	`sku` text NOT NULL,
	`type` text NOT NULL,
	`account_id` text,
	`consumed_at` integer,
	`tags` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_codes_site_code` ON `access_codes` (`site_id`,`access_code`);--> statement-breakpoint
CREATE INDEX `access_codes_site_created` ON `access_codes` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `access_codes_account` ON `access_codes` (`account_id`,`sku`) WHERE "access_codes"."account_id" is not null;--> statement-breakpoint
CREATE TABLE `tv_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`hash` text NOT NULL,
	`device_hash` text NOT NULL,
	`account_id` text,
	`polled_at` integer,
	`taken_at` integer,
	`created` integer NOT NULL,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tv_codes_hash_unique` ON `tv_codes` (`hash`);--> statement-breakpoint
CREATE INDEX `tv_codes_expires` ON `tv_codes` (`expires`);--> statement-breakpoint
CREATE TABLE `calendar_categories` (
	`event_id` text NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`label` text NOT NULL,
	PRIMARY KEY(`event_id`, `title`, `label`)
);
--> statement-breakpoint
CREATE INDEX `calendar_categories_site_title` ON `calendar_categories` (`site_id`,`title`,`label`,`event_id`);--> statement-breakpoint
CREATE TABLE `calendar_events` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`channel_id` text,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`categories` text NOT NULL,
	`date` text NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`image` text,
	`third_party_event_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `calendar_events_site_starts` ON `calendar_events` (`site_id`,`starts_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `calendar_events_site_third_party` ON `calendar_events` (`site_id`,`third_party_event_id`);--> statement-breakpoint
CREATE TABLE `mail_senders` (
	`site_id` text PRIMARY KEY NOT NULL,
	`domain` text NOT NULL,
	`from_email` text NOT NULL,
	`from_name` text NOT NULL,
	`reply_to_email` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `receipt_templates` (
	`site_id` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`template` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sent_mails` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`event_id` text NOT NULL,
	`template` text NOT NULL,
	`outcome` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sent_mails_created` ON `sent_mails` (`created`);--> statement-breakpoint
CREATE TABLE `account_entitlements` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`sku` text NOT NULL,
	`granted_method` text NOT NULL,
	`presentment_currency` text,
	`status` text NOT NULL,
	`date_granted` integer NOT NULL,
	`date_cancelled` integer,
	`date_refunded` integer,
	`source` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_entitlements_held` ON `account_entitlements` (`site_id`,`account_id`,`sku`) WHERE "account_entitlements"."status" <> 'cancelled';--> statement-breakpoint
CREATE INDEX `account_entitlements_site_created` ON `account_entitlements` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `account_entitlements_account` ON `account_entitlements` (`site_id`,`account_id`,`created`);--> statement-breakpoint
CREATE INDEX `account_entitlements_source` ON `account_entitlements` (`site_id`,`source`) WHERE "account_entitlements"."source" is not null;--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`sku` text NOT NULL,
	`name` text NOT NULL,
	`subscription_provider` text NOT NULL,
	`recurrence` text,
	`prices` text NOT NULL,
	`stripe_plan_id` text,
	`preview_duration_seconds` integer DEFAULT 0 NOT NULL,
	`tags` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_site_sku` ON `subscriptions` (`site_id`,`sku`);--> statement-breakpoint
CREATE INDEX `subscriptions_site_created` ON `subscriptions` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `invites` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`token_sealed` text NOT NULL,
	`token_hash` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`target_skus` text NOT NULL,
	`tags` text NOT NULL,
	`expires` integer NOT NULL,
	`consumed_at` integer,
	`revoked_at` integer,
	`account_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invites_token_hash_unique` ON `invites` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invites_site_created` ON `invites` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `register_invites` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`email` text NOT NULL,
	`sender_account_id` text NOT NULL,
	`target_roles` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`expires` integer NOT NULL,
	`sent` integer NOT NULL,
	`account_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `register_invites_site_email` ON `register_invites` (`site_id`,`email`);--> statement-breakpoint
CREATE TABLE `media` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`file_name` text NOT NULL,
	`kind` text NOT NULL,
	`content_type` text NOT NULL,
	`size` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `media_site_created` ON `media` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `accounts_email` ON `accounts` (`email`);