import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.mjs";

const MIGRATIONS = join(ROOT, "db/migrations");
const BREAKPOINT = "--> statement-breakpoint";

/** The list of applied migrations, as `wrangler d1 migrations` creates and reads it. */
const LIST = `create table if not exists d1_migrations(
  id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null
)`;

/**
 * Applies the migrations that a local database doesn't have yet, in order, each in a transaction. `wrangler d1 migrations apply --local` does
 * the same, but starts a runtime for each of them, which takes half a minute for a new database.
 */
export async function applyMigrations(database: D1Database, folder = MIGRATIONS): Promise<void> {
  await database.prepare(LIST).run();
  const { results } = await database.prepare("select name from d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql") && !applied.has(name));
  for (const name of files.sort()) {
    const statements = readFileSync(join(folder, name), "utf8").split(BREAKPOINT);
    const remember = database.prepare("insert into d1_migrations (name) values (?)").bind(name);
    await database.batch([...statements.map((statement) => database.prepare(statement)), remember]);
  }
}
