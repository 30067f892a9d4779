import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer as start, type Server } from "#scripts/lib/server.ts";
import { prepareState } from "#scripts/lib/state.ts";

export interface TestServerOptions {
  /** By default any free port. */
  port?: number;
  /** A folder that survives the server, for tests that restart it; by default, a temporary one is deleted with the server. */
  state?: string;
}

/** Starts the same as `npm start`: the Worker with the demo sites, with its own state; without compiling it, if the tests' setup has. */
export async function startServer({ port = 0, state }: TestServerOptions = {}): Promise<Server> {
  const folder = state ?? (await temporaryState());
  const server = await start({ port, state: folder, secrets: await prepareState(folder), bundle: process.env.TIFO_TEST_BUNDLE });
  if (state !== undefined) return server;
  const ended = server.ended.then(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { ...server, ended, stop: () => server.stop().then(() => ended), kill: () => server.kill().then(() => ended) };
}

/** Creates a folder for a server's state, which the caller deletes: with the demo sites, if the tests' setup has prepared them. */
export async function temporaryState(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tifo-"));
  const prepared = process.env.TIFO_TEST_STATE;
  if (prepared !== undefined) await cp(prepared, folder, { recursive: true });
  return folder;
}
