import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "#scripts/lib/root.mjs";
import type { Broadcaster, Channel } from "./fan-out.ts";
import { type Server, startServer } from "./processes.ts";
import { newFolder, startNode } from "./runtimes.ts";

const GO_PATH = "/usr/share/gocode";
const NCHAN_MODULE = "/usr/lib/nginx/modules/ngx_nchan_module.so";
const UWEBSOCKETS = "uwebsockets@3.0.6";

/** The servers that are no part of the project: those that this machine has or can install, and why the others aren't there. */
export function installedPeers(): { peers: Broadcaster[]; missing: string[] } {
  const found = [nchan(), centrifuge(), uWebSockets(), nats()];
  return {
    peers: found.flatMap((peer) => (typeof peer === "string" ? [] : [peer])),
    missing: found.flatMap((peer) => (typeof peer === "string" ? [peer] : [])),
  };
}

function nchan(): Broadcaster | string {
  if (!existsSync(NCHAN_MODULE) || !runs("nginx", "-v")) return "nchan (Debian's libnginx-mod-nchan isn't installed)";
  return {
    name: "nchan",
    start: startNchan,
    connectPath: (room) => `/connect?room=${room}`,
    isPipe: true,
    without: "a log beyond the last 100 in memory, receipts, gate",
  };
}

async function startNchan(): Promise<Server> {
  const [folder, port] = [newFolder(), await freePort()];
  const config = `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
load_module ${NCHAN_MODULE};
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000; nchan_message_buffer_length 100;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /connect { nchan_subscriber websocket; nchan_channel_id $arg_room; }
    location = /publish { nchan_publisher; nchan_channel_id $arg_room; }
  }
}
`;
  writeFileSync(join(folder, "nginx.conf"), config);
  const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"];
  return startServer("nginx", args, ["ignore", "ignore", "inherit"], () => accepting(port));
}

/** Its viewers are all in one room. */
function centrifuge(): Broadcaster | string {
  if (!existsSync(join(GO_PATH, "src/github.com/centrifugal/centrifuge")) || !runs("go", "version"))
    return "Centrifuge (Debian's golang-github-centrifugal-centrifuge-dev isn't installed)";
  const binary = join(newFolder(), "centrifuge");
  const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOFLAGS: "", GOMAXPROCS: "1" };
  const built = spawnSync("go", ["build", "-o", binary, join(ROOT, "bench/peers/centrifuge.go")], { env, encoding: "utf8" });
  if (built.status !== 0) return `Centrifuge (${(built.stderr.split("\n")[0] ?? "").trim()})`;
  return {
    name: "Centrifuge",
    start: async () => {
      const port = await freePort();
      return startServer(binary, [String(port)], ["ignore", "ignore", "inherit"], () => accepting(port));
    },
    connectPath: () => "/connect",
    dialect: { hello: `{"id":1,"params":{}}` },
    isPipe: true,
    without: "a log beyond the last 100 in memory, receipts, gate",
  };
}

/** Installed beside the project, without running scripts of the package: its native module has the size of all other packages together. */
function uWebSockets(): Broadcaster | string {
  const folder = join(ROOT, ".wrangler/bench-peers");
  const module = join(folder, "node_modules/uwebsockets");
  if (!existsSync(module)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "bench-peers", private: true }));
    const options = { cwd: folder, encoding: "utf8" } as const;
    const installed = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", UWEBSOCKETS], options);
    if (installed.status !== 0) return "uWebSockets (npm can't install it)";
  }
  const loaded = spawnSync(process.execPath, ["-e", "require(process.argv[1])", module], { encoding: "utf8" });
  if (loaded.status !== 0) {
    const needed = /GLIBC_([\d.]+)/.exec(loaded.stderr)?.[1];
    return `uWebSockets (its native module ${needed === undefined ? "can't be loaded" : `needs glibc ${needed}`})`;
  }
  return {
    name: "uWebSockets",
    start: () => startNode("bench/peers/uwebsockets.ts", module),
    connectPath: (room) => `/connect?room=${room}`,
    without: "log, receipts, gate",
  };
}

/** Viewers speak NATS's protocol over WebSockets, and the publisher over TCP. */
function nats(): Broadcaster | string {
  if (!runs("nats-server", "--version")) return "NATS (Debian's nats-server isn't installed)";
  // By the port of its WebSockets.
  const clientPorts = new Map<number, number>();
  return {
    name: "NATS",
    start: async () => {
      const [folder, port, clientPort] = [newFolder(), await freePort(), await freePort()];
      const config = `listen: "127.0.0.1:${clientPort}"\nwebsocket { listen: "127.0.0.1:${port}", no_tls: true }\nping_interval: "1h"\n`;
      writeFileSync(join(folder, "nats.conf"), config);
      clientPorts.set(port, clientPort);
      return startServer("nats-server", ["-c", join(folder, "nats.conf")], ["ignore", "ignore", "ignore"], () => accepting(port));
    },
    // The server has no other way to tell the room than what the viewer sends first.
    connectPath: () => "/",
    dialect: {
      hello: `CONNECT {"verbose":false}\r\nSUB room 1\r\n`,
      reply: (message) => (message.length < 10 && message.toString("latin1").startsWith("PING") ? "PONG\r\n" : undefined),
      isBinary: true,
    },
    openChannel: (port) => new NatsChannel(clientPorts.get(port) ?? 0),
    isPipe: true,
    without: "order over reconnects, log, receipts, gate",
  };
}

/** Publishes a text and a ping; the server answers pings in order. */
class NatsChannel implements Channel {
  readonly #socket;
  #waiting: PromiseWithResolvers<undefined> | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.write(`CONNECT {"verbose":false}\r\n`);
    this.#socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      if (text.includes("PING\r\n")) this.#socket.write("PONG\r\n");
      if (text.includes("PONG\r\n")) this.#waiting?.resolve(undefined);
    });
    this.#socket.on("error", (error) => this.#waiting?.reject(error));
  }

  async send(text: string): Promise<void> {
    this.#waiting = Promise.withResolvers<undefined>();
    this.#socket.write(`PUB room ${Buffer.byteLength(text)}\r\n${text}\r\nPING\r\n`);
    await this.#waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }
}

function runs(command: string, argument: string): boolean {
  return spawnSync(command, [argument]).status === 0;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No free port");
  return address.port;
}

/** Resolves with the port once something listens there. */
async function accepting(port: number): Promise<number> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (isOpen) return port;
    await sleep(50);
  }
}
