CREATE TABLE `setup_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`expires` integer NOT NULL,
	`created` integer NOT NULL
);
