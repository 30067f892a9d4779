/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { inject } from "vitest";
import "./dns-resolver.ts";

// At the top level, because a suite's own `beforeAll` may already need the tables.
await applyD1Migrations(env.DB, inject("migrations"));
