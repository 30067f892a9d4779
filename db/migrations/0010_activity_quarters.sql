PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_viewer_activity` (
	`site_id` text NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`quarter` integer NOT NULL,
	`seconds` real NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`site_id`, `account_id`, `kind`, `target_id`, `channel_id`, `quarter`)
);
--> statement-breakpoint
INSERT INTO `__new_viewer_activity`("site_id", "account_id", "kind", "target_id", "channel_id", "quarter", "seconds", "first_at", "last_at") SELECT "site_id", "account_id", "kind", "target_id", "channel_id", "quarter", "seconds", "first_at", "last_at" FROM `viewer_activity`;--> statement-breakpoint
DROP TABLE `viewer_activity`;--> statement-breakpoint
ALTER TABLE `__new_viewer_activity` RENAME TO `viewer_activity`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `viewer_activity_last` ON `viewer_activity` (`last_at`);