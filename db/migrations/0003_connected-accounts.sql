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
--> statement-breakpoint
-- Who accepted an invitation by e-mail has proved the address.
UPDATE `accounts` SET `email_verified` = (
	SELECT max(i.`modified`) FROM `register_invites` i
	WHERE i.`site_id` = `accounts`.`site_id` AND i.`account_id` = `accounts`.`id` AND i.`email` = `accounts`.`email`
);
--> statement-breakpoint
-- A sign-up sets a password: an account without one was created by the site or by a partner that proved the address.
UPDATE `accounts` SET `trusted` = 1 WHERE `password_hash` IS NULL OR `email_verified` IS NOT NULL;
--> statement-breakpoint
UPDATE `sites` SET `settings` = json_set(`settings`, '$.security.requireVerifiedEmail', json('false'));
--> statement-breakpoint
-- Global accounts came into being without their owner, under a password that one of the sites had set. Only a reset, which is mailed to
-- the address, has ever replaced that one: those stay, linked where the site's account is proven too. All others start anew.
UPDATE `accounts` SET `global_account_id` = NULL WHERE `global_account_id` IS NOT NULL AND (
	`email_verified` IS NULL OR `global_account_id` IN (SELECT `id` FROM `global_accounts` WHERE `password_version` = 1)
);
--> statement-breakpoint
DELETE FROM `global_accounts` WHERE `password_version` = 1;
--> statement-breakpoint
DELETE FROM `sessions` WHERE `audience` = 'global' AND `account_id` NOT IN (SELECT `id` FROM `global_accounts`);
--> statement-breakpoint
DELETE FROM `password_resets` WHERE `audience` = 'global' AND `account_id` NOT IN (SELECT `id` FROM `global_accounts`);
