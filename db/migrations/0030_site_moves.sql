CREATE TABLE `site_move_changes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`table_name` text NOT NULL,
	`key` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `site_move_pass` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`open` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `site_moves` (
	`site_id` text PRIMARY KEY NOT NULL,
	`from_shard` integer NOT NULL,
	`to_shard` integer NOT NULL,
	`phase` text NOT NULL,
	`table_index` integer NOT NULL,
	`last_row` integer NOT NULL,
	`rows` integer NOT NULL,
	`message` text,
	`started` integer NOT NULL,
	`switched` integer,
	`completed` integer,
	`lease` integer NOT NULL,
	`attempts` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `site_id` text DEFAULT '' NOT NULL;