/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, inject, vi } from "vitest";
import { allDatabases } from "#db/databases.ts";
import "./cheap-passwords.ts";
import "./dns-resolver.ts";

// At the top level, because a suite's own `beforeAll` may already need the tables.
for (const database of allDatabases(env)) await applyD1Migrations(database, inject("migrations"));

// Files share a Worker: the clock of a test that failed would be that of all tests after it.
afterEach(() => void vi.useRealTimers());
