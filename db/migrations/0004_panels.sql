CREATE TABLE `navigations` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`parents` text NOT NULL,
	`external_links` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `navigations_site_modified` ON `navigations` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `navigations_site_default` ON `navigations` (`site_id`) WHERE "navigations"."type" = 'default';--> statement-breakpoint
CREATE TABLE `panels` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`slug` text NOT NULL,
	`panel_type` text NOT NULL,
	`panel_name` text NOT NULL,
	`renderer` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `panels_site_modified` ON `panels` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE TABLE `site_themes` (
	`site_id` text PRIMARY KEY NOT NULL,
	`theme_id` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `themes` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`mode` text NOT NULL,
	`colors` text NOT NULL,
	`button` text NOT NULL,
	`typography` text NOT NULL,
	`logo` text,
	`icon` text,
	`backgrounds` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `themes_site_modified` ON `themes` (`site_id`,`modified`,`id`);