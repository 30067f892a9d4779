CREATE TABLE `donations` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`panel_id` text NOT NULL,
	`channel_id` text,
	`name` text,
	`message` text,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`created` integer NOT NULL,
	`paid` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `donations_account` ON `donations` (`site_id`,`account_id`);--> statement-breakpoint
CREATE INDEX `donations_paid` ON `donations` (`site_id`,`paid`,`id`);--> statement-breakpoint
CREATE TABLE `shop_connections` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`domain` text NOT NULL,
	`token_sealed` text NOT NULL,
	`webhook_secret_sealed` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shop_connections_site_id_unique` ON `shop_connections` (`site_id`);--> statement-breakpoint
CREATE TABLE `shop_orders` (
	`site_id` text NOT NULL,
	`order_id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`site_id`, `order_id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shop_orders_webhook` ON `shop_orders` (`site_id`,`webhook_id`);--> statement-breakpoint
CREATE TABLE `wallet_transactions` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`wallet_id` text NOT NULL,
	`transaction_id` text NOT NULL,
	`entry` integer NOT NULL,
	`amount` integer NOT NULL,
	`balance` integer NOT NULL,
	`reason` text NOT NULL,
	`reference` text,
	`created_by` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wallet_transactions_once` ON `wallet_transactions` (`wallet_id`,`transaction_id`);--> statement-breakpoint
CREATE INDEX `wallet_transactions_wallet` ON `wallet_transactions` (`site_id`,`wallet_id`,`entry`,`id`);--> statement-breakpoint
ALTER TABLE `claims` ADD `cost` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `claims` ADD `charged` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `claims` ADD `reward_amount` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `quests` ADD `claim_cost` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `quests` ADD `reward_amount` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- The balances that wallets have had so far become the sum of their transactions.
INSERT INTO `wallet_transactions` (`id`, `site_id`, `wallet_id`, `transaction_id`, `entry`, `amount`, `balance`, `reason`, `reference`, `created_by`, `created`)
SELECT printf('%012x', `modified`) || lower(hex(randomblob(6))), `site_id`, `id`, 'tifo/opening', `version`, `balance`, `balance`, 'Opening balance', NULL, 'system', `modified`
FROM `wallets` WHERE `balance` <> 0;
