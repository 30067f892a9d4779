CREATE TABLE `rule_pauses` (
	`channel_id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`since` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rule_pauses_site` ON `rule_pauses` (`site_id`);