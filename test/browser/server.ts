import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer as start, type Server } from "#scripts/lib/server.ts";
import { prepareState } from "#scripts/lib/state.ts";

export interface TestServerOptions {
  /** Any free one unless given. */
  port?: number;
  /** Folder that outlives the server, for a test that starts it again; else one that goes with the server. */
  state?: string;
}

/** Starts what `npm start` starts: the Worker with the demo sites, on a state of its own. */
export async function startServer({ port = 0, state }: TestServerOptions = {}): Promise<Server> {
  const folder = state ?? (await temporaryState());
  const server = await start({ port, state: folder, secrets: await prepareState(folder) });
  if (state !== undefined) return server;
  const ended = server.ended.then(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { ...server, ended, stop: () => server.stop().then(() => ended), kill: () => server.kill().then(() => ended) };
}

/** An empty folder for a server's state; who asks for it removes it. */
export async function temporaryState(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "tifo-"));
}
