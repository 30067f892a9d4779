import type { D1Migration } from "@cloudflare/vitest-pool-workers";

declare module "vitest" {
  /** What `inject` gives to tests. */
  interface ProvidedContext {
    /** Every migration of db/migrations; in the projects `api` and `isolated`. */
    migrations: D1Migration[];
    /** Address of the server that the project `browser` shares. */
    url: string;
    /** Address of the stream provider; in the project `api`. */
    streamProvider: string;
  }
}
