ALTER TABLE `poll_responses` ADD `charged` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `polls` ADD `response_cost` integer DEFAULT 0 NOT NULL;