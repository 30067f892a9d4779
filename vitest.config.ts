import { mkdirSync } from "node:fs";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

// The runtime refuses to start without its assets folder, which only a build of the docs fills.
mkdirSync("docs/dist", { recursive: true });

// Wrangler asks the environment for the secrets that wrangler.toml declares as required.
process.env.TIFO_SECRET = "a secret that only the tests use, long enough to be one";
process.env.TIFO_SUPER_KEY = "tifo_super_demo";

const migrations = await readD1Migrations("db/migrations");

// Only ends what hangs: no test may come near it, however slow the machine. Tests have no limits of their own.
const PATIENCE_MS = 600_000;
const patience = {
  testTimeout: PATIENCE_MS,
  hookTimeout: PATIENCE_MS,
  teardownTimeout: PATIENCE_MS,
  expect: { poll: { timeout: 0.9 * PATIENCE_MS } },
};

// Tests of every operation of the document.
const ofAllAreas = ["test/contract.test.ts", "test/events.test.ts", "test/query-plans.test.ts"];

/** Runs a project's tests inside the Worker's own runtime, every binding local. */
function workerd(bindings: Record<string, string> = {}) {
  return cloudflareTest({ wrangler: { configPath: "./wrangler.toml" }, remoteBindings: false, miniflare: { bindings } });
}

// The groups run one after the other: what talks to a real clock or a browser gets the machine to itself.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          environment: "node",
          include: ["{worker,db,scripts,bench}/**/*.unit.test.ts", "docs/src/**/*.test.ts", "{sdk,test/sdk}/**/*.test.ts"],
          setupFiles: ["test/wait-timeouts.ts"],
          ...patience,
        },
      },
      {
        plugins: [
          workerd({
            TIFO_IGDB_CLIENT_ID: "igdb-client",
            TIFO_IGDB_CLIENT_SECRET: "igdb-secret",
            TIFO_YOUTUBE_KEY: "youtube-key",
            TIFO_STRIPE_KEY: "sk_test_tifo",
            TIFO_STRIPE_WEBHOOK_SECRET: "whsec_tifo,, whsec_tifo_connected",
            TIFO_STRIPE_TIMEOUT: "540000",
          }),
        ],
        test: {
          name: "api",
          include: ["worker/**/*.test.ts", ...ofAllAreas],
          exclude: ["**/*.unit.test.ts"],
          globalSetup: ["test/stream-provider.ts"],
          setupFiles: ["test/wait-timeouts.ts", "test/setup.ts", "test/check-events.ts"],
          provide: { migrations },
          // One Worker for all files: each suite makes a site of its own, which costs less than a Worker of its own.
          isolate: false,
          maxWorkers: 1,
          ...patience,
        },
      },
      {
        // No viewer falls silent by itself, however slow the machine; the tests that are about it move the clock.
        plugins: [workerd({ TIFO_HEARTBEAT_SECONDS: "3600" })],
        test: {
          name: "isolated",
          include: ["test/isolated/**/*.test.ts"],
          setupFiles: ["test/wait-timeouts.ts", "test/setup.ts"],
          provide: { migrations },
          sequence: { groupOrder: 1 },
          ...patience,
        },
      },
      {
        test: {
          name: "browser",
          environment: "node",
          include: ["test/browser/**/*.test.ts"],
          globalSetup: ["test/browser/global-setup.ts"],
          setupFiles: ["test/wait-timeouts.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...patience,
        },
      },
    ],
  },
});
