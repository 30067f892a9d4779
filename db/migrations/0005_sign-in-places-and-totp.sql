CREATE TABLE `recovery_codes` (
	`account_id` text NOT NULL,
	`site_id` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`account_id`, `hash`)
);
--> statement-breakpoint
CREATE TABLE `sign_in_failures` (
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`address` text NOT NULL,
	`reason` text NOT NULL,
	`minute` integer NOT NULL,
	`attempts` integer NOT NULL,
	PRIMARY KEY(`site_id`, `account_id`, `address`, `reason`, `minute`)
);
--> statement-breakpoint
CREATE INDEX `sign_in_failures_minute` ON `sign_in_failures` (`minute`);--> statement-breakpoint
CREATE TABLE `sign_in_places` (
	`hash` text PRIMARY KEY NOT NULL,
	`audience` text NOT NULL,
	`account_id` text NOT NULL,
	`seen` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_places_account` ON `sign_in_places` (`account_id`);--> statement-breakpoint
CREATE INDEX `sign_in_places_seen` ON `sign_in_places` (`seen`);--> statement-breakpoint
CREATE TABLE `totp_secrets` (
	`account_id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`confirmed` integer,
	`last_step` integer NOT NULL,
	`created` integer NOT NULL
);
