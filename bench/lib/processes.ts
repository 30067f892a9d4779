import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { canPin, SERVER_CORE } from "./machine.ts";

/** A server under test, in its own process group. */
export interface Server {
  port: number;
  /** The id of its process group. */
  group: number;
  /** Kills its process group immediately. */
  stop(): Promise<void>;
}

const running = new Set<number>();

// However this process ends, no server is left running.
process.on("exit", () => running.forEach(killGroup));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
if (process.connected) process.on("disconnect", () => process.exit(1));

/** Starts a server on its core, and resolves once `listening` has determined the port. */
export async function startServer(
  command: string,
  args: string[],
  stdio: StdioOptions,
  listening: (child: ChildProcess) => Promise<number>,
): Promise<Server> {
  const [file, rest] = canPin ? ["taskset", ["-c", String(SERVER_CORE), command, ...args]] : [command, args];
  const child = spawn(file, rest, { stdio, detached: true });
  const group = child.pid;
  if (group === undefined) throw new Error(`${command} couldn't be started`);
  running.add(group);
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    killGroup(group);
    await ended;
    running.delete(group);
  };
  const died = ended.then(([code]) => Promise.reject(new Error(`${command} exited with ${code} before it was listening`)));
  try {
    return { port: await Promise.race([listening(child), died]), group, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    died.catch(() => undefined);
  }
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It has exited already.
  }
}
