import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { ROOT } from "#scripts/lib/root.mjs";

const MIGRATIONS = join(ROOT, "db/migrations");

/** Creates a migrated database in a folder, and fills it. */
export async function createDatabase(folder: string, fill: (database: D1Database) => Promise<void>): Promise<void> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ modules: true, script: "", cf: false, d1Databases: { DB: "bench" }, resourcePersistencePath: folder }),
  );
  try {
    const database = await miniflare.getD1Database("DB");
    for (const file of readdirSync(MIGRATIONS)
      .filter((name) => name.endsWith(".sql"))
      .sort()) {
      const statements = readFileSync(join(MIGRATIONS, file), "utf8").split("--> statement-breakpoint");
      await database.batch(statements.map((statement) => database.prepare(statement)));
    }
    await fill(database);
  } finally {
    await miniflare.dispose();
  }
}
