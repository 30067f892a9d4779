// Migrates the local databases of a state folder: node scripts/migrate.ts <folder>
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";
import { allDatabases } from "#db/databases.ts";
import { applyMigrations } from "./lib/migrations.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError("usage: node scripts/migrate.ts <folder>");

const { env, dispose } = await getPlatformProxy<Env>({ persist: { path: join(folder, "v3") }, remoteBindings: false });
try {
  for (const database of allDatabases(env)) await applyMigrations(database);
} finally {
  await dispose();
}
