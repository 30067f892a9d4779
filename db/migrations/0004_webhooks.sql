CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`kind` text NOT NULL,
	`url` text NOT NULL,
	`services` text NOT NULL,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`disabled_at` integer,
	`secret_sealed` text NOT NULL,
	`previous_secret_sealed` text,
	`previous_secret_expires` integer,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_site` ON `webhook_endpoints` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_endpoints_site_own` ON `webhook_endpoints` (`site_id`) WHERE kind = 'site';--> statement-breakpoint
ALTER TABLE `outbox` ADD `origin` text;