ALTER TABLE `polls` ADD `responses_pruned` integer;--> statement-breakpoint
CREATE INDEX `polls_unpruned` ON `polls` (`modified`) WHERE "polls"."open" = 0 and "polls"."responses_pruned" is null;