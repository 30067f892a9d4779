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
	`password_version` integer,
	`polled_at` integer,
	`taken_at` integer,
	`created` integer NOT NULL,
	`expires` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tv_codes_hash_unique` ON `tv_codes` (`hash`);--> statement-breakpoint
CREATE INDEX `tv_codes_expires` ON `tv_codes` (`expires`);--> statement-breakpoint
CREATE TABLE `account_links` (
	`site_id` text NOT NULL,
	`provider` text NOT NULL,
	`third_party_account_id` text NOT NULL,
	`account_id` text NOT NULL,
	PRIMARY KEY(`site_id`, `provider`, `third_party_account_id`)
);
--> statement-breakpoint
CREATE INDEX `account_links_account` ON `account_links` (`account_id`);--> statement-breakpoint
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
CREATE INDEX `accounts_email` ON `accounts` (`email`);--> statement-breakpoint
CREATE INDEX `accounts_site_created` ON `accounts` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `accounts_site_name` ON `accounts` (`site_id`,`normalized_name`,`id`);--> statement-breakpoint
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
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`audience` text NOT NULL,
	`account_id` text NOT NULL,
	`password_version` integer DEFAULT 1 NOT NULL,
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
CREATE TABLE `viewer_activity` (
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`begun` integer NOT NULL,
	`seconds` real NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`site_id`, `account_id`, `kind`, `target_id`, `channel_id`, `begun`)
);
--> statement-breakpoint
CREATE INDEX `viewer_activity_last` ON `viewer_activity` (`last_at`);--> statement-breakpoint
CREATE TABLE `charges` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`item_type` text NOT NULL,
	`item_id` text NOT NULL,
	`description` text NOT NULL,
	`skus` text NOT NULL,
	`recurrence` text,
	`stripe_account` text,
	`status` text NOT NULL,
	`reserved` integer DEFAULT 0 NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`receipt_number` text,
	`failure` text,
	`recurring_id` text,
	`stripe_session_id` text,
	`stripe_payment_id` text,
	`stripe_invoice_id` text,
	`due` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	CONSTRAINT "charges_books" CHECK(0 <= "charges"."refunded" and "charges"."refunded" <= "charges"."reserved" and "charges"."reserved" <= "charges"."amount")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `charges_receipt` ON `charges` (`site_id`,`receipt_number`);--> statement-breakpoint
CREATE UNIQUE INDEX `charges_invoice` ON `charges` (`stripe_invoice_id`);--> statement-breakpoint
CREATE INDEX `charges_site_created` ON `charges` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `charges_account` ON `charges` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `charges_recurring` ON `charges` (`recurring_id`,`created`);--> statement-breakpoint
CREATE INDEX `charges_payment` ON `charges` (`stripe_payment_id`);--> statement-breakpoint
CREATE INDEX `charges_due` ON `charges` (`due`) WHERE "charges"."due" is not null;--> statement-breakpoint
CREATE TABLE `recurring_subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`item_type` text NOT NULL,
	`item_id` text NOT NULL,
	`description` text NOT NULL,
	`skus` text NOT NULL,
	`recurrence` text,
	`stripe_account` text,
	`status` text NOT NULL,
	`past_due` integer NOT NULL,
	`stripe_subscription_id` text NOT NULL,
	`current_period_end` integer,
	`date_cancelled` integer,
	`stopping` integer NOT NULL,
	`due` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `recurring_subscriptions_stripe_subscription_id_unique` ON `recurring_subscriptions` (`stripe_subscription_id`);--> statement-breakpoint
CREATE INDEX `recurring_account` ON `recurring_subscriptions` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `recurring_due` ON `recurring_subscriptions` (`due`) WHERE "recurring_subscriptions"."due" is not null;--> statement-breakpoint
CREATE TABLE `refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`charge_id` text NOT NULL,
	`amount` integer NOT NULL,
	`reason` text,
	`keep` integer NOT NULL,
	`status` text NOT NULL,
	`failure` text,
	`stripe_refund_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_stripe_refund_id_unique` ON `refunds` (`stripe_refund_id`);--> statement-breakpoint
CREATE INDEX `refunds_charge` ON `refunds` (`charge_id`);--> statement-breakpoint
CREATE TABLE `bundles` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`sku` text NOT NULL,
	`price` integer NOT NULL,
	`presentment_currency` text NOT NULL,
	`items` text NOT NULL,
	`description` text NOT NULL,
	`image` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `bundles_site_sku` ON `bundles` (`site_id`,`sku`);--> statement-breakpoint
CREATE INDEX `bundles_site_created` ON `bundles` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `automation_rules` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`channel_id` text,
	`json_rule` text NOT NULL,
	`active` integer NOT NULL,
	`client_rule` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `automation_rules_site_created` ON `automation_rules` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `automation_rules_site_client` ON `automation_rules` (`site_id`,`client_rule`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `rule_firings` (
	`event_id` text NOT NULL,
	`rule_id` text NOT NULL,
	`site_id` text NOT NULL,
	`rule_name` text NOT NULL,
	`outcome` text NOT NULL,
	`message` text,
	`made_id` text,
	`due` integer NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`event_id`, `rule_id`)
);
--> statement-breakpoint
CREATE INDEX `rule_firings_rule` ON `rule_firings` (`site_id`,`rule_id`,`created`);--> statement-breakpoint
CREATE INDEX `rule_firings_created` ON `rule_firings` (`created`);--> statement-breakpoint
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
CREATE TABLE `channel_templates` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`icon` text,
	`panels` text NOT NULL,
	`rules` text NOT NULL,
	`theme` text,
	`creator` text NOT NULL,
	`owner` text NOT NULL,
	`archived` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `channel_templates_site_modified` ON `channel_templates` (`site_id`,`archived`,`modified`,`id`);--> statement-breakpoint
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
CREATE TABLE `data_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`schema` text NOT NULL,
	`facts` text NOT NULL,
	`owner_name` text NOT NULL,
	`owner_email` text NOT NULL,
	`realtime` integer NOT NULL,
	`ttl` integer,
	`tags` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`previous_secret_sealed` text,
	`previous_expires` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `data_providers_site_created` ON `data_providers` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `provider_events` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`external_id` text NOT NULL,
	`event` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `provider_events_external` ON `provider_events` (`provider_id`,`external_id`);--> statement-breakpoint
CREATE INDEX `provider_events_provider_created` ON `provider_events` (`site_id`,`provider_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `provider_events_created` ON `provider_events` (`created`);--> statement-breakpoint
CREATE TABLE `devices` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`device_id` text NOT NULL,
	`description` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_account_device` ON `devices` (`site_id`,`account_id`,`device_id`);--> statement-breakpoint
CREATE INDEX `devices_account_created` ON `devices` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `watch_time` (
	`site_id` text NOT NULL,
	`page_id` text NOT NULL,
	`viewer` text NOT NULL,
	`seconds` integer NOT NULL,
	`modified` integer NOT NULL,
	PRIMARY KEY(`site_id`, `page_id`, `viewer`)
);
--> statement-breakpoint
CREATE INDEX `watch_time_viewer` ON `watch_time` (`site_id`,`viewer`);--> statement-breakpoint
CREATE INDEX `watch_time_modified` ON `watch_time` (`modified`);--> statement-breakpoint
CREATE TABLE `account_entitlements` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`sku` text NOT NULL,
	`granted_method` text NOT NULL,
	`presentment_currency` text,
	`price` integer DEFAULT 0 NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`status` text NOT NULL,
	`date_granted` integer NOT NULL,
	`date_cancelled` integer,
	`date_refunded` integer,
	`date_ends` integer,
	`source` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_entitlements_held` ON `account_entitlements` (`site_id`,`account_id`,`sku`) WHERE "account_entitlements"."status" <> 'cancelled';--> statement-breakpoint
CREATE INDEX `account_entitlements_site_created` ON `account_entitlements` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `account_entitlements_account` ON `account_entitlements` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `account_entitlements_sku` ON `account_entitlements` (`site_id`,`sku`,`account_id`);--> statement-breakpoint
CREATE INDEX `account_entitlements_ending` ON `account_entitlements` (`date_ends`) WHERE "account_entitlements"."status" = 'cancelScheduled';--> statement-breakpoint
CREATE INDEX `account_entitlements_source` ON `account_entitlements` (`site_id`,`source`) WHERE "account_entitlements"."source" is not null;--> statement-breakpoint
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
	`origin` text,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_site` ON `outbox` (`site_id`,`id`);--> statement-breakpoint
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
	`by_sender` integer NOT NULL,
	`revoked_at` integer,
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
CREATE TABLE `navigations` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`parents` text NOT NULL,
	`external_links` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `navigations_site_modified` ON `navigations` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `navigations_site_default` ON `navigations` (`site_id`) WHERE "navigations"."type" = 'default';--> statement-breakpoint
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
CREATE TABLE `panels` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`slug` text NOT NULL,
	`panel_type` text NOT NULL,
	`panel_name` text NOT NULL,
	`renderer` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `panels_site_modified` ON `panels` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE TABLE `playlists` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`members` text NOT NULL,
	`tags` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `playlists_site_modified` ON `playlists` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `playlists_site_created` ON `playlists` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `playlists_site_title` ON `playlists` (`site_id`,`title`,`id`);--> statement-breakpoint
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
CREATE INDEX `quests_site_modified` ON `quests` (`site_id`,`modified`,`id`);--> statement-breakpoint
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
CREATE INDEX `polls_site_open` ON `polls` (`site_id`,`modified`) WHERE "polls"."open" = 1;--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`hash` text NOT NULL,
	`previous_hash` text,
	`previous_expires` integer,
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
CREATE UNIQUE INDEX `api_keys_previous_hash_unique` ON `api_keys` (`previous_hash`);--> statement-breakpoint
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
CREATE UNIQUE INDEX `sites_slug_unique` ON `sites` (`slug`);--> statement-breakpoint
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
CREATE INDEX `streams_provider` ON `streams` (`site_id`,`provider`);--> statement-breakpoint
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
CREATE INDEX `subscriptions_site_modified` ON `subscriptions` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE TABLE `site_themes` (
	`site_id` text PRIMARY KEY NOT NULL,
	`theme_id` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `themes` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`mode` text NOT NULL,
	`colors` text NOT NULL,
	`button` text NOT NULL,
	`typography` text NOT NULL,
	`logo` text,
	`icon` text,
	`backgrounds` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `themes_site_modified` ON `themes` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE TABLE `video_totals` (
	`video_id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`views` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `video_views` (
	`video_id` text NOT NULL,
	`device` text NOT NULL,
	`counted` integer NOT NULL,
	PRIMARY KEY(`video_id`, `device`)
);
--> statement-breakpoint
CREATE INDEX `video_views_counted` ON `video_views` (`counted`);--> statement-breakpoint
CREATE TABLE `videos` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`duration_seconds` real NOT NULL,
	`player` text NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`thumbnail` text,
	`upload_status` text NOT NULL,
	`subscriptions` text NOT NULL,
	`tags` text NOT NULL,
	`stream_id` text,
	`live_broadcast_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `videos_site_modified` ON `videos` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_created` ON `videos` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_title` ON `videos` (`site_id`,`title`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_type` ON `videos` (`site_id`,`type`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_url` ON `videos` (`site_id`,`url`);--> statement-breakpoint
CREATE INDEX `videos_site_broadcast` ON `videos` (`site_id`,`live_broadcast_id`);--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`kind` text NOT NULL,
	`url` text NOT NULL,
	`services` text NOT NULL,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`disabled_at` integer,
	`secret_sealed` text NOT NULL,
	`previous_secret_sealed` text,
	`previous_secret_expires` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_site` ON `webhook_endpoints` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_endpoints_site_own` ON `webhook_endpoints` (`site_id`) WHERE kind = 'site';--> statement-breakpoint
CREATE TABLE `wallets` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`owner_id` text NOT NULL,
	`owner_type` text NOT NULL,
	`balance` integer NOT NULL,
	`payment_customer_id` text,
	`stripe_account` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wallets_owner` ON `wallets` (`site_id`,`owner_type`,`owner_id`);