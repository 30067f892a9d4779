import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ROOT } from "#scripts/lib/root.mjs";
import { type Server, startServer } from "#scripts/lib/server.ts";
import { DEMO_SUPER_KEY, migrateState, type Secrets } from "#scripts/lib/state.ts";
import { UpgradeLoad, type UpgradeOutcome } from "./upgrade-load.ts";

/** The Worker and the data of the previous release; scripts/pack-release.ts makes it. */
const PREVIOUS_RELEASE = join(ROOT, "test/kills/previous-release.tgz");
const SECRETS: Secrets = { TIFO_SECRET: "the secret of both releases, long enough to be one", TIFO_SUPER_KEY: DEMO_SUPER_KEY };

/**
 * Upgrades a server of the previous release as `npm run deploy` does, while viewers watch, write, vote and earn credits: first the
 * database, on which the previous release continues, then the Worker. Each step ends the server with requests in flight.
 * @param seconds of load before, between and after the two steps
 */
export async function upgradeUnderLoad(seconds: number): Promise<UpgradeOutcome> {
  const folder = await mkdtemp(join(tmpdir(), "tifo-upgrade-"));
  await promisify(execFile)("tar", ["-xzf", PREVIOUS_RELEASE, "-C", folder]);
  const state = join(folder, "state");
  const previous = { state, secrets: SECRETS, config: join(folder, "release/wrangler.toml") };
  let server = await startServer({ ...previous, port: 0 });
  const port = Number(new URL(server.url).port);
  const load = new UpgradeLoad(server.url);
  const next = async (start: () => Promise<Server>): Promise<void> => {
    await server.kill();
    server = await start();
    await load.reconnect(server);
    await sleep(seconds * 1000);
  };
  try {
    await load.begin(server);
    await sleep(seconds * 1000);
    await next(async () => {
      await migrateState(state, SECRETS);
      return startServer({ ...previous, port });
    });
    await next(() => startServer({ state, secrets: SECRETS, port }));
    return await load.end(server);
  } finally {
    load.stop();
    await server.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
