ALTER TABLE `alerts` ADD `is_emailed` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `alerts` ADD `email_problem` text;