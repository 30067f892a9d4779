import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleWorker } from "#scripts/lib/bundle-worker.ts";
import { prepareState } from "#scripts/lib/state.ts";

/** Prepares what a new server needs once for all tests: its state, of which each server gets a copy (`temporaryState`), and the Worker. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TIFO_TEST_STATE !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "tifo-"));
  const state = join(folder, "state");
  const bundle = join(folder, "worker.json");
  await prepareState(state);
  await bundleWorker(bundle);
  Object.assign(process.env, { TIFO_TEST_STATE: state, TIFO_TEST_BUNDLE: bundle });
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
