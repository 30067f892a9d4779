ALTER TABLE `data_providers` ADD `schema_checks` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `data_providers` ADD `disabled_reason` text;--> statement-breakpoint
CREATE INDEX `data_providers_schema_checks` ON `data_providers` (`schema_checks`);