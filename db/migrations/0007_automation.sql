CREATE TABLE `automation_rules` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`channel_id` text,
	`json_rule` text NOT NULL,
	`active` integer NOT NULL,
	`client_rule` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `automation_rules_site_created` ON `automation_rules` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `automation_rules_site_client` ON `automation_rules` (`site_id`,`client_rule`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `rule_firings` (
	`event_id` text NOT NULL,
	`rule_id` text NOT NULL,
	`site_id` text NOT NULL,
	`rule_name` text NOT NULL,
	`outcome` text NOT NULL,
	`message` text,
	`made_id` text,
	`due` integer NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`event_id`, `rule_id`)
);
--> statement-breakpoint
CREATE INDEX `rule_firings_rule` ON `rule_firings` (`site_id`,`rule_id`,`created`);--> statement-breakpoint
CREATE INDEX `rule_firings_created` ON `rule_firings` (`created`);--> statement-breakpoint
CREATE TABLE `data_providers` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`schema` text NOT NULL,
	`facts` text NOT NULL,
	`owner_name` text NOT NULL,
	`owner_email` text NOT NULL,
	`realtime` integer NOT NULL,
	`ttl` integer,
	`tags` text NOT NULL,
	`secret_sealed` text NOT NULL,
	`previous_secret_sealed` text,
	`previous_expires` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `data_providers_site_created` ON `data_providers` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE TABLE `provider_events` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`external_id` text NOT NULL,
	`event` text NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `provider_events_external` ON `provider_events` (`provider_id`,`external_id`);--> statement-breakpoint
CREATE INDEX `provider_events_provider_created` ON `provider_events` (`site_id`,`provider_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `provider_events_created` ON `provider_events` (`created`);