import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { expect, onTestFinished, test } from "vitest";
import { applyMigrations } from "./migrations.ts";
import { ROOT } from "./root.mjs";

test("a new database gets all migrations, and a second run applies none", async () => {
  const database = await emptyDatabase();
  await applyMigrations(database);
  const files = readdirSync(join(ROOT, "db/migrations")).filter((name) => name.endsWith(".sql"));
  expect(await names(database, "select name from d1_migrations order by id")).toEqual(files.sort());
  expect(await names(database, "select name from sqlite_master where type = 'table'")).toContain("sites");
  await applyMigrations(database);
  expect(await names(database, "select name from d1_migrations")).toHaveLength(files.length);
});

test("a database gets what it doesn't have yet", async () => {
  const database = await emptyDatabase();
  const folder = migrations({ "0000_one.sql": "create table one (id integer)" });
  await applyMigrations(database, folder);
  writeFileSync(
    join(folder, "0001_two.sql"),
    "alter table one add column name text;\n--> statement-breakpoint\ncreate table two (id integer);",
  );
  await applyMigrations(database, folder);
  expect(await names(database, "select name from pragma_table_info('one')")).toEqual(["id", "name"]);
  expect(await names(database, "select name from d1_migrations order by id")).toEqual(["0000_one.sql", "0001_two.sql"]);
});

test("a migration that fails leaves nothing of itself, and is tried again", async () => {
  const database = await emptyDatabase();
  const folder = migrations({
    "0000_one.sql": "create table one (id integer)",
    "0001_two.sql": "create table two (id integer);\n--> statement-breakpoint\ninsert into missing values (1);",
  });
  await expect(applyMigrations(database, folder)).rejects.toThrow("no such table: missing");
  expect(await names(database, "select name from d1_migrations")).toEqual(["0000_one.sql"]);
  writeFileSync(join(folder, "0001_two.sql"), "create table two (id integer)");
  await applyMigrations(database, folder);
  expect(await names(database, "select name from d1_migrations order by id")).toEqual(["0000_one.sql", "0001_two.sql"]);
});

async function emptyDatabase(): Promise<D1Database> {
  const miniflare = new Miniflare(convertV4MiniflareOptions({ modules: true, script: "", cf: false, d1Databases: { DB: "empty" } }));
  onTestFinished(() => miniflare.dispose());
  return await miniflare.getD1Database("DB");
}

function migrations(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "tifo-migrations-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
  return folder;
}

async function names(database: D1Database, query: string): Promise<string[]> {
  const { results } = await database.prepare(query).all<{ name: string }>();
  return results.map(({ name }) => name);
}
