CREATE TABLE `sandbox_mails` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`recipient` text NOT NULL,
	`subject` text NOT NULL,
	`text` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sandbox_mails_site` ON `sandbox_mails` (`site_id`,`id`);--> statement-breakpoint
CREATE TABLE `sandboxes` (
	`site_id` text PRIMARY KEY NOT NULL,
	`claim_hash` text NOT NULL,
	`state` text NOT NULL,
	`expires` integer NOT NULL,
	`due` integer NOT NULL,
	`objects` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sandboxes_claim_hash_unique` ON `sandboxes` (`claim_hash`);--> statement-breakpoint
CREATE INDEX `sandboxes_due` ON `sandboxes` (`due`);