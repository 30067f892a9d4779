import { mkdirSync } from "node:fs";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig, type Plugin } from "vitest/config";

// The runtime doesn't start without its assets folder, which only a build of the docs creates.
mkdirSync("docs/dist", { recursive: true });

// Wrangler reads the secrets that wrangler.toml declares as required from the environment.
process.env.TIFO_SECRET = "a secret that only the tests use, long enough to be one";
process.env.TIFO_SUPER_KEY = "tifo_super_demo";

const migrations = await readD1Migrations("db/migrations");

// Only for tests that hang: no test may come close to this, even on a slow machine. Tests don't set their own timeouts.
const TIMEOUT_MS = 600_000;
const timeouts = {
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
  teardownTimeout: TIMEOUT_MS,
  expect: { poll: { timeout: 0.9 * TIMEOUT_MS } },
};

// Tests of every operation in the document.
const allOperations = ["test/contract.test.ts", "test/events.test.ts", "test/query-plans.test.ts", "test/search.test.ts"];

// Before each test, what the previous one replaced is put back.
const restored = { restoreMocks: true, unstubGlobals: true };

// A test that runs the cron would otherwise start the backups of all other tests' sites; tests read the lines of all requests; and sandboxes take no proof of work.
const quiet = { TIFO_BACKUP_DAILY: "0", TIFO_BACKUP_WEEKLY: "0", TIFO_LOG_LINES: "0", TIFO_SANDBOX_WORK: "0" };

// With 2, every new site of the tests is on a second shard.
const SHARD = Number(process.env.TIFO_TEST_SHARD ?? "1");

/**
 * Imports at the start what the Worker imports when it first needs it. In the runner, an import is a call in a request or an object: others
 * wait for it too, forever if that object is reset meanwhile. A deployment has all modules in one file.
 */
const earlyImports: Plugin = {
  name: "early-imports",
  transform(code, id) {
    if (!/\/worker\/.*\.ts$/.test(id)) return undefined;
    const paths = [...new Set(code.match(/(?<=\bimport\()"[^"]+"(?=\))/g))];
    const imports = paths.map((path, index) => `import * as early${index} from ${path};`);
    const replaced = paths.reduce((text, path, index) => text.replaceAll(`import(${path})`, `Promise.resolve(early${index})`), code);
    // On the first line, so that the positions of all others stay as they are.
    return paths.length === 0 ? undefined : { code: imports.join(" ") + replaced, map: null };
  },
};

/** Runs a project's tests in the Worker's own runtime, with local bindings. */
function workerd(bindings: Record<string, string> = {}, shard = SHARD) {
  const second = { bindings: { TIFO_SHARD_WEIGHTS: "0,1" }, d1Databases: { DB_2: "second-shard" } };
  const { bindings: weights, ...databases } = shard === 1 ? { bindings: {} } : second;
  const miniflare = { bindings: { ...quiet, ...weights, ...bindings }, ...databases };
  return [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" }, remoteBindings: false, miniflare }), earlyImports];
}

/** Tests of the API, over one Worker that a file shares with the others. */
function apiProject(name: string, shard: number, include: string[]) {
  const bindings = {
    TIFO_SANDBOXES: "1000",
    TIFO_IGDB_CLIENT_ID: "igdb-client",
    TIFO_IGDB_CLIENT_SECRET: "igdb-secret",
    TIFO_YOUTUBE_KEY: "youtube-key",
    TIFO_STRIPE_KEY: "sk_test_tifo",
    TIFO_STRIPE_WEBHOOK_SECRET: "whsec_tifo,, whsec_tifo_connected",
    TIFO_STRIPE_TIMEOUT: "540000",
  };
  return {
    plugins: [workerd(bindings, shard)],
    test: {
      name,
      include,
      exclude: ["**/*.unit.test.ts"],
      globalSetup: ["test/stream-provider.ts", "test/chat-services.ts", "test/shopify-service.ts"],
      setupFiles: ["test/wait-timeouts.ts", "test/setup.ts", "test/check-events.ts"],
      provide: { migrations, shard },
      // Files share two Workers: each suite creates its own site, which is cheaper than its own Worker.
      isolate: false,
      maxWorkers: 2,
      ...timeouts,
    },
  };
}

// What is about more than one site, or finds a row before its site is known, runs on a second shard too.
const onSecondShard = [
  "test/shards/**/*.test.ts",
  // It costs no more round trips than the first.
  "worker/http/round-trips.test.ts",
  // A bookmark names the database.
  "worker/http/read-replicas.test.ts",
  "worker/routes/{auth,health,invites,outputs,shop,sites,stream-providers,themes,wallets}/**/*.test.ts",
  "worker/routes/accounts/{global-accounts,passwords,tags}.test.ts",
  "worker/routes/billing/{billing,connect}.test.ts",
  "worker/routes/pages/references.test.ts",
  "worker/routes/panels/embeds.test.ts",
];

/** What an object that starts while its file ends throws: the runner has gone from which it would have loaded the Worker's module. */
const START_AFTER_END = 'Closing rpc while "resolve" was pending';

// The groups run one after the other, so that tests with a real clock or a browser have the machine to themselves.
export default defineConfig({
  test: {
    onUnhandledError: ({ name, message }) => name !== "EnvironmentTeardownError" || !message.includes(START_AFTER_END),
    projects: [
      {
        test: {
          name: "unit",
          environment: "node",
          include: [
            "{worker,db,scripts,bench,studio}/**/*.unit.test.ts",
            "docs/{src,integrations}/**/*.test.ts",
            "{sdk,test/sdk,test/cli}/**/*.test.ts",
          ],
          setupFiles: ["test/wait-timeouts.ts"],
          maxWorkers: 2,
          ...restored,
          ...timeouts,
        },
      },
      apiProject("api", SHARD, ["worker/**/*.test.ts", ...allOperations]),
      apiProject("shards", 2, onSecondShard),
      {
        // Viewers never time out by accident, even on a slow machine; tests of timeouts advance the clock. Nothing is sent between requests.
        plugins: [
          workerd({
            TIFO_HEARTBEAT_SECONDS: "3600",
            TIFO_SANDBOXES: process.env.TIFO_TEST_SANDBOXES ?? "5",
            TIFO_REQUEST_LOG: "off",
          }),
        ],
        test: {
          name: "isolated",
          include: ["test/isolated/**/*.test.ts"],
          globalSetup: ["test/chat-services.ts"],
          setupFiles: ["test/wait-timeouts.ts", "test/fresh-storage.ts", "test/setup.ts"],
          provide: { migrations, shard: SHARD, sandboxGenerations: Number(process.env.TIFO_TEST_SANDBOX_GENERATIONS ?? 3) },
          // Files share two Workers, which take longer to start than most files to run; each file has empty storage and no objects of others.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          ...restored,
          ...timeouts,
        },
      },
      {
        // Nothing here depends on how fast the machine is, so that it shares it with the tests of the API.
        test: {
          name: "kills",
          environment: "node",
          include: ["test/kills/**/*.test.ts"],
          globalSetup: ["test/browser/server-setup.ts"],
          setupFiles: ["test/wait-timeouts.ts", "test/browser/fetch-setup.ts"],
          maxWorkers: 2,
          ...timeouts,
        },
      },
      {
        test: {
          name: "browser",
          environment: "node",
          include: ["test/browser/**/*.test.ts"],
          globalSetup: ["test/browser/server-setup.ts"],
          setupFiles: ["test/wait-timeouts.ts", "test/browser/fetch-setup.ts"],
          // Each file has its own server and browser, and waits half of the time.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          ...timeouts,
        },
      },
    ],
  },
});
