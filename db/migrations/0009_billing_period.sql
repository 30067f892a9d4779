PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_recurring_subscriptions` (
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
INSERT INTO `__new_recurring_subscriptions`("id", "site_id", "account_id", "amount", "currency", "item_type", "item_id", "description", "skus", "recurrence", "stripe_account", "status", "past_due", "stripe_subscription_id", "current_period_end", "date_cancelled", "stopping", "due", "created", "modified", "version") SELECT "id", "site_id", "account_id", "amount", "currency", "item_type", "item_id", "description", "skus", "recurrence", "stripe_account", "status", "past_due", "stripe_subscription_id", "current_period_end", "date_cancelled", "stopping", "due", "created", "modified", "version" FROM `recurring_subscriptions`;--> statement-breakpoint
DROP TABLE `recurring_subscriptions`;--> statement-breakpoint
ALTER TABLE `__new_recurring_subscriptions` RENAME TO `recurring_subscriptions`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `recurring_subscriptions_stripe_subscription_id_unique` ON `recurring_subscriptions` (`stripe_subscription_id`);--> statement-breakpoint
CREATE INDEX `recurring_account` ON `recurring_subscriptions` (`site_id`,`account_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `recurring_due` ON `recurring_subscriptions` (`due`) WHERE "recurring_subscriptions"."due" is not null;--> statement-breakpoint
ALTER TABLE `charges` ADD `recurrence` text;