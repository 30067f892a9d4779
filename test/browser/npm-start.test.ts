import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { url } from "./test-server.ts";

type Command = ChildProcessByStdio<null, Readable, Readable>;

let state: string;
let commands: Command[];

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "tifo-"));
  commands = [];
});

afterEach(async () => {
  await Promise.all(commands.map(stop));
  await rm(state, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs the same command as `npm start`. */
function npmStart(port: string): Command {
  const env = { ...process.env, PORT: port, TIFO_STATE: state };
  const command = spawn(process.execPath, ["scripts/run.mjs", "scripts/start.ts"], { env, stdio: ["ignore", "pipe", "pipe"] });
  commands.push(command);
  return command;
}

async function stop(command: Command): Promise<void> {
  if (command.exitCode !== null || command.signalCode !== null) return;
  command.kill();
  await once(command, "exit");
}

/** The URL that the command prints once its server is ready. */
async function urlOf(command: Command): Promise<URL> {
  for await (const line of createInterface({ input: command.stdout })) {
    const address = /Docs\s+(http\S+)/.exec(line)?.[1];
    if (address !== undefined) return new URL(address);
  }
  throw new Error(`The command ended before its server was ready: ${await text(command.stderr)}`);
}

it("leaves no server running when it is killed, and starts again on the same state", async () => {
  const first = npmStart("0");
  const { port } = await urlOf(first);
  const connection = connect(Number(port), "127.0.0.1").resume();
  await once(connection, "connect");
  // A killed server may also reset it.
  connection.on("error", () => undefined);
  const closed = new Promise((settle) => connection.once("close", settle));
  first.kill("SIGKILL");
  await closed;

  const second = await urlOf(npmStart("0"));
  expect((await fetch(new URL("/health", second))).status).toBe(200);
  // Traces of requests would grow without a limit.
  const stored = await readdir(join(state, "v3"));
  expect([stored.includes("d1"), stored.includes("observability")]).toEqual([true, false]);
});

it("reports in one sentence that its port is taken", async () => {
  const { port } = new URL(url);
  const command = npmStart(port);
  expect((await text(command.stderr)).trim()).toMatch(new RegExp(`^Port ${port} is in use: .*\\.$`));
  expect(command.exitCode ?? (await once(command, "exit"))[0]).toBe(1);
});
