import { spawnSync } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createDb } from "#db/client.ts";
import { CHANNEL_1, loadDemo, SITE_A } from "#db/demo.ts";
import { accounts } from "#db/schema/accounts.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { signTicket } from "#worker/services/realtime/tickets.ts";
import { bundle } from "./bundle.ts";
import { ChatCrowd } from "./chat-crowd.ts";
import { createDatabase } from "./database.ts";
import { type Broadcaster, socketIo } from "./fan-out.ts";
import { HttpConnection, requestText } from "./http.ts";
import { startServer } from "./processes.ts";
import type { Contender } from "./rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./runtimes.ts";

/** Accounts that write; each may send one message a second. */
export const SENDERS = 250;
/** Rows per statement: D1 allows 100 bound parameters. */
const ROWS = 5;
const PUBLISHERS = 16;
const GO_PATH = "/usr/share/gocode";
const NCHAN_MODULE = "/usr/lib/nginx/modules/ngx_nchan_module.so";

interface Sender {
  /** Sends one message. */
  send(number: number): void;
  /** Gives up the messages that still wait. */
  close(): void;
}

/** A server with a chat room. */
export interface ChatContender extends Contender {
  /** Whether it has channels with overlays, and batches with positions. */
  isTifo: boolean;
  /** Brings viewers in until they receive messages. */
  enter(crowd: ChatCrowd, port: number, viewers: number): Promise<void>;
  dialect?: Broadcaster["dialect"];
  sender(crowd: ChatCrowd, port: number): Sender;
}

/** The whole Worker with the demo's database, and a few hundred accounts more. */
export async function tifoChat(): Promise<ChatContender> {
  const folder = newFolder();
  const ids = Array.from({ length: SENDERS }, (_, number) => (number + 1).toString(16).padStart(24, "0"));
  const secret = { TIFO_SECRET: VARIABLES["TIFO_SECRET"] ?? "" };
  await createDatabase(folder, async (database) => {
    await loadDemo(database, undefined, secret);
    await insertAccounts(database, ids);
  });
  const code = await bundle("worker/index.ts");
  const variables = { ...VARIABLES, TIFO_SOCKETS_PER_ADDRESS: "0", TIFO_HEARTBEAT_SECONDS: "3600", TIFO_RELAY_CAPACITY: "2500" };
  return {
    name: "Tifo",
    isTifo: true,
    start: () => {
      // Each run has its own room.
      const copy = newFolder();
      cpSync(folder, copy, { recursive: true });
      return startMiniflare({ code, objects: OBJECTS, variables }, copy);
    },
    enter: async (crowd, port, viewers) => {
      const path = `/realtime/v1/channels/${CHANNEL_1}?clientId=${SITE_A}`;
      const subject = { siteId: SITE_A, channelId: CHANNEL_1, sessionId: null, tags: [] };
      const tickets = await Promise.all(ids.map((accountId) => signTicket(secret, { ...subject, accountId }, 0, Date.now())));
      const paths = Array.from({ length: viewers }, (_, viewer) => {
        const ticket = tickets[viewer]?.ticket;
        return `${path}&deviceId=viewer-${viewer}${ticket === undefined ? "" : `&ticket=${ticket}`}`;
      });
      await crowd.connect(port, paths, 64, "first");
      for (const viewer of crowd.viewers) viewer.send(JSON.stringify({ type: "chat.join" }));
      while (crowd.joined < viewers) await sleep(20);
    },
    sender: (crowd) => {
      const writers = crowd.viewers.filter(({ path }) => path.includes("&ticket="));
      return {
        send: (number) =>
          writers[number % writers.length]?.send(JSON.stringify({ type: "chat.send", id: String(number), text: ChatCrowd.textOf(number) })),
        close: () => undefined,
      };
    },
  };
}

async function insertAccounts(database: D1Database, ids: string[]): Promise<void> {
  const db = createDb(database);
  const rows = ids.map((id, number) => ({
    id,
    siteId: SITE_A,
    email: `writer-${number}@bench.example`,
    name: `Writer ${number}`,
    normalizedName: `writer ${number}`,
    emailHash: id,
    roles: [],
    tags: [],
    thirdPartyAuthProviders: [],
    marketingOptin: false,
    created: 0,
    modified: 0,
  }));
  for (let start = 0; start < rows.length; start += ROWS) await db.insert(accounts).values(rows.slice(start, start + ROWS));
}

/** The peers that are installed; the others' names. */
export function chatPeers(): { peers: ChatContender[]; missing: string[] } {
  const nchan = existsSync(NCHAN_MODULE);
  const centrifuge = existsSync(join(GO_PATH, "src/github.com/centrifugal/centrifuge")) && spawnSync("go", ["version"]).status === 0;
  return {
    peers: [
      ...(nchan ? [peer({ name: "nchan", start: startNchan, connectPath: () => "/connect?room=room" })] : []),
      ...(centrifuge ? [peer({ ...buildCentrifuge(), connectPath: () => "/connect", dialect: { hello: `{"id":1,"params":{}}` } })] : []),
      peer(socketIo()),
    ],
    missing: [
      ...(nchan ? [] : ["nchan (libnginx-mod-nchan)"]),
      ...(centrifuge ? [] : ["Centrifuge (golang-github-centrifugal-centrifuge-dev)"]),
    ],
  };
}

/** Peers take messages over HTTP and hand each on to everybody. */
function peer(broadcaster: Broadcaster): ChatContender {
  const { name, dialect } = broadcaster;
  return {
    name,
    isTifo: false,
    start: () => broadcaster.start(),
    ...(dialect && { dialect }),
    enter: async (crowd, port, viewers) => {
      const paths = Array.from({ length: viewers }, (_, viewer) => broadcaster.connectPath("room", viewer));
      await crowd.connect(port, paths, 64, dialect ? "first" : "opened");
      // Some subscribe after they have answered.
      await sleep(1_000);
    },
    sender: (crowd, port) => new Publishers(crowd, port),
  };
}

/** Connections that publish over HTTP, one message at a time each; a server that can't keep up leaves messages waiting. */
class Publishers implements Sender {
  readonly #crowd: ChatCrowd;
  readonly #connections: HttpConnection[];
  readonly #free: HttpConnection[];
  #waiting: number[] = [];
  #isClosed = false;

  constructor(crowd: ChatCrowd, port: number) {
    this.#crowd = crowd;
    this.#connections = Array.from({ length: PUBLISHERS }, () => new HttpConnection(port));
    this.#free = [...this.#connections];
  }

  send(number: number): void {
    this.#waiting.push(number);
    const connection = this.#free.pop();
    if (connection) void this.#publish(connection);
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    for (const connection of this.#connections) connection.close();
  }

  async #publish(connection: HttpConnection): Promise<void> {
    try {
      for (let number = this.#waiting.shift(); number !== undefined; number = this.#waiting.shift())
        await connection.send(requestText("POST", "/publish?room=room", {}, JSON.stringify([messageOf(number)])));
      this.#free.push(connection);
    } catch (error) {
      if (!this.#isClosed) this.#crowd.lose(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** A message with the fields of ours. */
function messageOf(number: number) {
  const id = number.toString(16).padStart(24, "0");
  return {
    ...{ type: "chat.message", _id: id, chatSeq: number, accountId: id, name: `Writer ${number % SENDERS}`, roles: [], system: false },
    ...{ text: ChatCrowd.textOf(number), language: null, translation: null, replyTo: null, mentions: [], reactions: {} },
    ...{ state: "visible", sentAt: Date.now() },
  };
}

async function startNchan() {
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

function buildCentrifuge(): Contender {
  const binary = join(newFolder(), "centrifuge");
  const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOFLAGS: "", GOMAXPROCS: "1" };
  const built = spawnSync("go", ["build", "-o", binary, join(ROOT, "bench/peers/centrifuge.go")], { env, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`Centrifuge can't be built: ${built.stderr}`);
  const start = async () => {
    const port = await freePort();
    return startServer(binary, [String(port)], ["ignore", "ignore", "inherit"], () => accepting(port));
  };
  return { name: "Centrifuge", start };
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
