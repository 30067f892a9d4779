CREATE TABLE `cron_runs` (
	`cron` text PRIMARY KEY NOT NULL,
	`due` integer NOT NULL,
	`started` integer NOT NULL,
	`completed` integer NOT NULL,
	`failures` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `dead_letters` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`body` text NOT NULL,
	`attempts` integer NOT NULL,
	`sent` integer NOT NULL,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `effect_failures` (
	`site_id` text PRIMARY KEY NOT NULL,
	`failing` integer NOT NULL,
	`abandoned` integer NOT NULL,
	`oldest` integer NOT NULL,
	`cause` text NOT NULL,
	`modified` integer NOT NULL
);
