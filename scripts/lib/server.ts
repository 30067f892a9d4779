import { spawn, type ChildProcess } from "node:child_process";
import { on, once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { TOOL_ENV } from "./command.ts";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";
import { RuntimeLog } from "./runtime-log.ts";
import { type Secrets } from "./state.ts";

export interface ServerOptions {
  /** 0: any free port. */
  port: number;
  /** Folder that `prepareState` has prepared. */
  state: string;
  secrets: Secrets;
  /** The configuration of another release. */
  config?: string;
  /** A file that `bundleWorker` has written: the Worker isn't compiled again. */
  bundle?: string | undefined;
  /** False for a server whose bindings fail on purpose. */
  isHealthy?: boolean;
}

export interface Server {
  url: string;
  pid: number;
  /** Resolves when the server has exited, for whatever reason. */
  ended: Promise<void>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  /** Kills it and the runtime's own processes, like a power cut. */
  kill(): Promise<void>;
}

const WRANGLER = join(ROOT, "node_modules/wrangler/wrangler-dist/cli.js");
const SERVE_BUNDLE = join(ROOT, "scripts/lib/serve-bundle.ts");
const EXIT_WITH_PARENT = join(ROOT, "scripts/lib/exit-with-parent.mjs");
const GRACE_MS = 5_000;
// A busy machine may take minutes; a compile error is reported immediately.
const READY_MS = 300_000;

/** Starts the Worker on 127.0.0.1 and resolves once it responds. Its warnings and errors go to this process's output. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { secrets, isHealthy = true } = options;
  const child = spawn(process.execPath, ["--no-warnings", "--import", EXIT_WITH_PARENT, ...serverArguments(options)], {
    cwd: ROOT,
    env: { ...process.env, ...TOOL_ENV, ...secrets },
    stdio: ["ignore", "inherit", "pipe", "ipc"],
    // A separate process group, so that a kill reaches the runtime's processes, and Ctrl+C only this one.
    detached: true,
  });
  child.stderr?.pipe(new RuntimeLog()).pipe(process.stderr, { end: false });
  const { pid } = child;
  if (pid === undefined) throw new Problem("The local runtime couldn't be started.");
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
    if (isHealthy) await requireHealthy(url);
    return { url, pid, ended, stop, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Throws a problem if a port is in use, before any work is wasted. */
export async function requireFreePort(port: number): Promise<void> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    throw new Problem(`Port ${port} is in use: stop the process that uses it, or choose another port with PORT=${port + 1} npm start.`);
  }
  probe.close();
}

function serverArguments({ port, state, secrets, config = join(ROOT, "wrangler.toml"), bundle }: ServerOptions): string[] {
  const variables = localVariables();
  if (bundle !== undefined) return [SERVE_BUNDLE, bundle, state, String(port), JSON.stringify({ ...variables, ...secrets })];
  return [
    ...[WRANGLER, "dev", "--config", config],
    ...["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0", "--persist-to", state],
    ...["--log-level", "error", "--show-interactive-dev-session=false"],
    ...Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
  ];
}

function localVariables(): Record<string, string> {
  const { env } = process;
  return {
    TIFO_DEVELOPMENT: "true",
    TIFO_BACKUP_DAILY: env.TIFO_BACKUP_DAILY ?? "0",
    TIFO_BACKUP_WEEKLY: "0",
    TIFO_SANDBOXES: env.TIFO_SANDBOXES ?? "500",
    TIFO_SANDBOX_WORK: env.TIFO_SANDBOX_WORK ?? "0",
    // Locally, all viewers share one address.
    TIFO_SOCKETS_PER_ADDRESS: env.TIFO_SOCKETS_PER_ADDRESS ?? "100000",
    TIFO_DEVICES_PER_ADDRESS: env.TIFO_DEVICES_PER_ADDRESS ?? "100000",
  };
}

/** Resolves to the port that the runtime reports once it listens. After a compile error, the runtime waits for a change. */
async function listening(child: ChildProcess): Promise<number> {
  const timeout = AbortSignal.timeout(READY_MS);
  try {
    for await (const [message] of messagesOf(child, timeout)) {
      const event: unknown = typeof message === "string" ? JSON.parse(message) : message;
      if (isReady(event)) return event.port;
    }
  } catch (error) {
    if (timeout.aborted) throw new Problem("The server did not become ready in time; see the output above.");
    throw error;
  }
  throw new Problem("The server exited before it was ready; see the output above.");
}

function messagesOf(child: ChildProcess, signal: AbortSignal): AsyncIterable<unknown[]> {
  return on(child, "message", { signal, close: ["exit"] });
}

function isReady(event: unknown): event is { port: number } {
  return typeof event === "object" && event !== null && "event" in event && event.event === "DEV_SERVER_READY" && "port" in event;
}

async function requireHealthy(url: string): Promise<void> {
  const response = await fetch(`${url}/health`);
  if (!response.ok) throw new Problem(`The server is running but unhealthy: /health returned ${response.status} ${await response.text()}`);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The whole group has exited already.
  }
}
