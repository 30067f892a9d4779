import { spawn, type ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { OFFLINE } from "./command.ts";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";
import { RuntimeLog } from "./runtime-log.ts";
import { type Secrets } from "./state.ts";

export interface ServerOptions {
  /** 0 takes any free one. */
  port: number;
  /** Folder that `prepareState` has made ready. */
  state: string;
  secrets: Secrets;
}

export interface Server {
  url: string;
  pid: number;
  /** Resolves when the server has ended, for whatever reason. */
  ended: Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Ends it as a power cut would, the runtime's own processes with it. */
  kill(): Promise<void>;
}

const WRANGLER = join(ROOT, "node_modules/wrangler/wrangler-dist/cli.js");
const LEASH = join(ROOT, "scripts/lib/leash.mjs");
const GRACE_MS = 5_000;
// A busy machine may take minutes; code that doesn't compile says so at once.
const READY_MS = 300_000;

/** Starts the Worker on 127.0.0.1 and resolves when it answers. Its warnings and errors go to this process's output. */
export async function startServer({ port, state, secrets }: ServerOptions): Promise<Server> {
  const child = spawn(process.execPath, ["--no-warnings", "--import", LEASH, WRANGLER, ...devArguments(port, state)], {
    cwd: ROOT,
    env: { ...process.env, ...OFFLINE, ...secrets },
    stdio: ["ignore", "inherit", "pipe", "ipc"],
    // A group of its own, so that a kill reaches the runtime's processes and Ctrl+C reaches only us.
    detached: true,
  });
  child.stderr?.pipe(new RuntimeLog()).pipe(process.stderr, { end: false });
  const { pid } = child;
  if (pid === undefined) throw new Problem("The local runtime could not be started.");
  const ended = once(child, "exit").then(() => killGroup(pid));
  const kill = async (): Promise<void> => {
    killGroup(pid);
    await ended;
  };
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => killGroup(pid), GRACE_MS);
    await ended;
    clearTimeout(timer);
  };

  try {
    const url = `http://localhost:${await listening(child)}`;
    await answering(url);
    return { url, pid, ended, stop, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Says in one sentence, before any work is done in vain, that a port is taken. */
export async function requireFreePort(port: number): Promise<void> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    throw new Problem(`Port ${port} is taken: stop what listens there, or choose another with PORT=${port + 1} npm start.`);
  }
  probe.close();
}

function devArguments(port: number, state: string): string[] {
  return [
    ...["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0", "--persist-to", state],
    ...["--log-level", "error", "--show-interactive-dev-session=false", "--var", "TIFO_DEVELOPMENT:true"],
    // Here every viewer comes from one address.
    ...["TIFO_SOCKETS_PER_ADDRESS", "TIFO_DEVICES_PER_ADDRESS"].flatMap((name) => ["--var", `${name}:${process.env[name] ?? 100_000}`]),
  ];
}

/** Resolves to the port that the runtime reports when it listens. Code that does not compile leaves it waiting for a change. */
async function listening(child: ChildProcess): Promise<number> {
  const patience = AbortSignal.timeout(READY_MS);
  try {
    for await (const [message] of messagesOf(child, patience)) {
      const event: unknown = typeof message === "string" ? JSON.parse(message) : message;
      if (isReady(event)) return event.port;
    }
  } catch (error) {
    if (patience.aborted) throw new Problem("The server is not ready yet and is given up; the lines above say why.");
    throw error;
  }
  throw new Problem("The server ended before it was ready; the lines above say why.");
}

function messagesOf(child: ChildProcess, signal: AbortSignal): AsyncIterable<unknown[]> {
  return on(child, "message", { signal, close: ["exit"] });
}

function isReady(event: unknown): event is { port: number } {
  return typeof event === "object" && event !== null && "event" in event && event.event === "DEV_SERVER_READY" && "port" in event;
}

async function answering(url: string): Promise<void> {
  const response = await fetch(`${url}/health`);
  if (!response.ok) throw new Problem(`The server is up but not well: /health answers ${response.status} ${await response.text()}`);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The whole group has ended already.
  }
}
