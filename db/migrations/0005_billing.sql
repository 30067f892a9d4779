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
	`stripe_account` text,
	`recurrence` text NOT NULL,
	`status` text NOT NULL,
	`past_due` integer NOT NULL,
	`stripe_subscription_id` text NOT NULL,
	`current_period_end` integer,
	`date_cancelled` integer,
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