import type { D1Migration } from "@cloudflare/vitest-pool-workers";

declare module "vitest" {
  /** What `inject` provides to tests. */
  interface ProvidedContext {
    /** All migrations of db/migrations; in the projects `api` and `isolated`. */
    migrations: D1Migration[];
    /** The shard of the tests' sites: 1, or 2 in the project `shards` and with TIFO_TEST_SHARD=2. */
    shard: number;
    /** How often all sandboxes are created and expire in a row; in the project `isolated`. */
    sandboxGenerations: number;
    /** URL of the stream provider; in the project `api`. */
    streamProvider: string;
    /** URL of the stand-in for Shopify; in the project `api`. */
    shopify: string;
    /** URL of the chat services; in the projects `api` and `isolated`. */
    chatServices: string;
  }
}
