import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareState } from "#scripts/lib/state.ts";

/** Prepares the state of a new server once for all tests: each server starts on a copy of it (`temporaryState`). */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TIFO_TEST_STATE !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "tifo-"));
  process.env.TIFO_TEST_STATE = folder;
  await prepareState(folder);
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
