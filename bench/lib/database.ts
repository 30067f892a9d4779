import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { applyMigrations } from "#scripts/lib/migrations.ts";

/** Creates a migrated database in a folder, and fills it. */
export async function createDatabase(folder: string, fill: (database: D1Database) => Promise<void>): Promise<void> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ modules: true, script: "", cf: false, d1Databases: { DB: "bench" }, resourcePersistencePath: folder }),
  );
  try {
    const database = await miniflare.getD1Database("DB");
    await applyMigrations(database);
    await fill(database);
  } finally {
    await miniflare.dispose();
  }
}
