import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { ROOT } from "#scripts/lib/root.mjs";
import { config } from "./config.ts";
import { type Server, startServer } from "./processes.ts";

export const COMPATIBILITY_DATE = config.compatibility_date;
// The bare runtime rejects a flag that its compatibility date implies.
export const COMPATIBILITY_FLAGS = config.compatibility_flags.filter((flag) => flag !== "nodejs_compat");

/** Tifo's Durable Objects by binding. */
export const OBJECTS = Object.fromEntries(config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name]));

/** Tifo's variables, with secrets that only the benchmarks use. The viewers of a benchmark answer no pings, so they never time out. */
export const VARIABLES: Record<string, string> = {
  ...config.vars,
  TIFO_HEARTBEAT_SECONDS: "3600",
  TIFO_SECRET: "a secret that only the benchmarks use, long enough to be one",
  TIFO_SUPER_KEY: "tifo_super_bench",
};

const scratch = mkdtempSync(join(tmpdir(), "tifo-bench-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** A new empty folder, deleted when the run ends. */
export function newFolder(): string {
  return mkdtempSync(join(scratch, "run-"));
}

export interface Worker {
  /** The bundled module. */
  code: string;
  /** Durable Object classes by binding. */
  objects: Record<string, string>;
  variables: Record<string, string>;
}

/** Starts a Worker directly in the runtime. Durable Objects store their data in `folder`. */
export async function startWorkerd(worker: Worker, folder = newFolder()): Promise<Server> {
  mkdirSync(join(folder, "objects"), { recursive: true });
  writeFileSync(join(folder, "worker.js"), worker.code);
  writeFileSync(join(folder, "config.capnp"), workerdConfig(worker, join(folder, "objects")));
  const args = ["serve", join(folder, "config.capnp"), "--control-fd=3"];
  return startServer("workerd", args, ["ignore", "ignore", "inherit", "pipe"], async (child) => readPort(child.stdio[3]));
}

/** Starts a Worker in Miniflare, with a local D1 database in `folder`. */
export async function startMiniflare(worker: Worker, folder: string): Promise<Server> {
  const file = join(newFolder(), "worker.json");
  const options = { ...worker, folder, compatibilityDate: COMPATIBILITY_DATE, compatibilityFlags: COMPATIBILITY_FLAGS };
  writeFileSync(file, JSON.stringify(options));
  return startNode("bench/lib/miniflare-host.ts", file);
}

/** Starts a Node.js server, by its path in the project, which sends its port once it listens. */
export async function startNode(script: string, ...args: string[]): Promise<Server> {
  const stdio = ["ignore", "ignore", "inherit", "ipc"] as const;
  return startServer(process.execPath, ["--no-warnings", join(ROOT, script), ...args], [...stdio], readMessage);
}

async function readMessage(child: ChildProcess): Promise<number> {
  return z.tuple([z.number(), z.unknown()]).parse(await once(child, "message"))[0];
}

async function readPort(pipe: unknown): Promise<number> {
  if (!isReadable(pipe)) throw new Error("workerd has no control channel");
  for await (const chunk of pipe) {
    const port = /"port":(\d+)/.exec(String(chunk))?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("workerd did not report its port");
}

function isReadable(pipe: unknown): pipe is Readable {
  return typeof pipe === "object" && pipe !== null && "read" in pipe;
}

function workerdConfig({ objects, variables }: Worker, folder: string): string {
  const text = JSON.stringify;
  const classes = Object.values(objects);
  const bindings = [
    ...Object.entries(objects).map(([name, className]) => `(name = ${text(name)}, durableObjectNamespace = ${text(className)})`),
    ...Object.entries(variables).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main), (name = "disk", disk = (path = ${text(folder)}, writable = true)) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ],
);
const main :Workerd.Worker = (
  modules = [ (name = "worker.js", esModule = embed "worker.js") ],
  compatibilityDate = ${text(COMPATIBILITY_DATE)},
  compatibilityFlags = [ ${COMPATIBILITY_FLAGS.map((flag) => text(flag)).join(", ")} ],
  bindings = [ ${bindings.join(", ")} ],
  durableObjectNamespaces = [ ${classes.map((name) => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`).join(", ")} ],
  durableObjectStorage = (localDisk = "disk"),
);
`;
}
