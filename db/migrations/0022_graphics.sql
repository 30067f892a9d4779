CREATE TABLE `graphics` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`manifest` text NOT NULL,
	`main` text NOT NULL,
	`files` text NOT NULL,
	`size` integer NOT NULL,
	`ready` integer NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `graphics_site_created` ON `graphics` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `graphics_ready` ON `graphics` (`ready`,`created`);