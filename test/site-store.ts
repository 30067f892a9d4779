import { env } from "cloudflare:workers";
import { inject } from "vitest";
import { createDb } from "#db/client.ts";
import { rememberShard, shardDatabase } from "#db/databases.ts";
import { siteShards, siteSlugs } from "#db/schema/databases/shards.ts";

/** The shard of this run's sites: 1 unless the project, or `TIFO_TEST_SHARD`, says otherwise. */
export const shard = inject("shard");

/** The database of this run's sites. `env.DB` is the directory, which is the same one with one shard. */
export const siteStore: D1Database = shardDatabase(env, shard);

export const directory = createDb(env.DB);

/** Writes to the directory what the placement of a new site does. */
export async function placeTestSite(siteId: string, slug: string): Promise<void> {
  if (shard === 1) return;
  const created = Date.now();
  await directory.batch([
    directory.insert(siteShards).values({ siteId, shard, created }),
    directory.insert(siteSlugs).values({ slug, siteId, created }),
  ]);
  rememberShard(siteId, shard);
}
