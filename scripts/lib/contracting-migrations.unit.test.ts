import { describe, expect, test } from "vitest";
import { contractingStatements } from "./contracting-migrations.ts";

const found = (migration: string) => contractingStatements(migration).map(({ what }) => what);

describe("a migration that the running release can't survive", () => {
  test.each([
    ["DROP TABLE `polls`;", "drops a table"],
    ["drop table if exists polls;", "drops a table"],
    ["ALTER TABLE `polls` DROP COLUMN `title`;", "drops a column"],
    ["ALTER TABLE `polls` RENAME COLUMN `title` TO `name`;", "renames"],
    ["ALTER TABLE `polls` RENAME TO `questions`;", "renames"],
    ["ALTER TABLE `polls` ADD `kind` text NOT NULL;", "adds a column that old code can't fill"],
    ["CREATE TABLE `a` (`id` text);--> statement-breakpoint\nDROP TABLE `b`;", "drops a table"],
  ])("is found: %s", (migration, what) => expect(found(migration)).toEqual([what]));

  test.each([
    ["CREATE TABLE `polls` (`id` text NOT NULL);"],
    ["ALTER TABLE `polls` ADD `title` text;"],
    ["ALTER TABLE `polls` ADD `kind` text DEFAULT 'a' NOT NULL;"],
    ["DROP INDEX `polls_site`;--> statement-breakpoint\nCREATE INDEX `polls_site` ON `polls` (`site_id`);"],
    ["-- DROP TABLE `polls`;\nCREATE TABLE `a` (`id` text);"],
    ["-- contracts: unused since the release before\nALTER TABLE `polls` DROP COLUMN `title`;"],
  ])("is not one that only adds or is marked: %s", (migration) => expect(found(migration)).toEqual([]));
});
