CREATE TABLE `playlists` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`members` text NOT NULL,
	`tags` text NOT NULL,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `playlists_site_modified` ON `playlists` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `playlists_site_created` ON `playlists` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `playlists_site_title` ON `playlists` (`site_id`,`title`,`id`);--> statement-breakpoint
CREATE TABLE `video_totals` (
	`video_id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`views` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `video_views` (
	`video_id` text NOT NULL,
	`device` text NOT NULL,
	`counted` integer NOT NULL,
	PRIMARY KEY(`video_id`, `device`)
);
--> statement-breakpoint
CREATE INDEX `video_views_counted` ON `video_views` (`counted`);--> statement-breakpoint
CREATE TABLE `videos` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`duration_seconds` real NOT NULL,
	`player` text NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`thumbnail` text,
	`upload_status` text NOT NULL,
	`subscriptions` text NOT NULL,
	`tags` text NOT NULL,
	`stream_id` text,
	`live_broadcast_id` text,
	`created` integer NOT NULL,
	`modified` integer NOT NULL,
	`version` integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `videos_site_modified` ON `videos` (`site_id`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_created` ON `videos` (`site_id`,`created`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_title` ON `videos` (`site_id`,`title`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_type` ON `videos` (`site_id`,`type`,`modified`,`id`);--> statement-breakpoint
CREATE INDEX `videos_site_url` ON `videos` (`site_id`,`url`);--> statement-breakpoint
CREATE INDEX `videos_site_broadcast` ON `videos` (`site_id`,`live_broadcast_id`);