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
-- Account ids that sites have named in their settings are kept where one site alone names them, and are checked with Stripe before the next sale.
-- Where several sites name the same account, nobody can tell whose it is: none keeps it, and the owner connects again.
INSERT INTO `connected_accounts` (`id`, `site_id`, `stripe_account`, `charges_enabled`, `payouts_enabled`, `details_submitted`, `requirements`, `created`, `modified`)
SELECT lower(hex(randomblob(12))), `id`, json_extract(`settings`, '$.billing.stripeAccount'), 0, 0, 0, '{"currentlyDue":[],"pastDue":[],"disabledReason":null}', unixepoch() * 1000, unixepoch() * 1000
FROM `sites`
WHERE json_extract(`settings`, '$.billing.stripeAccount') IS NOT NULL
GROUP BY json_extract(`settings`, '$.billing.stripeAccount')
HAVING count(*) = 1;
--> statement-breakpoint
UPDATE `sites` SET `settings` = json_remove(`settings`, '$.billing'), `version` = `version` + 1 WHERE json_extract(`settings`, '$.billing') IS NOT NULL;
