CREATE TABLE `email_proofs` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`purpose` text NOT NULL,
	`email_hash` text NOT NULL,
	`base_url` text NOT NULL,
	`created` integer NOT NULL,
	`expires` integer NOT NULL,
	`used` integer
);
--> statement-breakpoint
CREATE INDEX `email_proofs_account` ON `email_proofs` (`account_id`,`created`);--> statement-breakpoint
CREATE INDEX `email_proofs_expires` ON `email_proofs` (`expires`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `email_verified` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `trusted` integer DEFAULT false NOT NULL;--> statement-breakpoint
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
