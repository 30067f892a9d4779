CREATE TABLE `connected_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`stripe_account` text,
	`charges_enabled` integer NOT NULL,
	`payouts_enabled` integer NOT NULL,
	`details_submitted` integer NOT NULL,
	`requirements` text NOT NULL,
	`synced` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connected_accounts_site_id_unique` ON `connected_accounts` (`site_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `connected_accounts_stripe_account_unique` ON `connected_accounts` (`stripe_account`);