/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Every migration of db/migrations, read by vitest.config.ts. */
    migrations: D1Migration[];
  }
}

// Top level, not `beforeAll`: a suite's own hooks may already need the tables.
await applyD1Migrations(env.DB, inject("migrations"));
