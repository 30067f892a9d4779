import { cpSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createDb } from "#db/client.ts";
import { CHANNEL_1, loadDemo, SITE_A } from "#db/demo.ts";
import { accounts } from "#db/schema/accounts.ts";
import { signTicket } from "#worker/services/realtime/tickets.ts";
import { bundle } from "./bundle.ts";
import { ChatCrowd } from "./chat-crowd.ts";
import { createDatabase } from "./database.ts";
import { type Broadcaster, type Channel, openChannel, socketIo } from "./fan-out.ts";
import { installedPeers } from "./peers.ts";
import type { Contender } from "./rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./runtimes.ts";

/** Accounts that write; each may send one message a second. */
export const SENDERS = 250;
/** Rows per statement: D1 allows 100 bound parameters. */
const ROWS = 5;
const PUBLISHERS = 16;

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
  const variables = { ...VARIABLES, TIFO_SOCKETS_PER_ADDRESS: "0", TIFO_RELAY_CAPACITY: "2500" };
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

/** The peers that are installed; why the others aren't there. */
export function chatPeers(): { peers: ChatContender[]; missing: string[] } {
  const { peers, missing } = installedPeers();
  return { peers: [...peers, socketIo()].map(peer), missing };
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
    sender: (crowd, port) =>
      new Publishers(
        crowd,
        Array.from({ length: PUBLISHERS }, () => openChannel(broadcaster, port, "room")),
      ),
  };
}

/** Connections that publish one message at a time each; a server that can't keep up leaves messages waiting. */
class Publishers implements Sender {
  readonly #crowd: ChatCrowd;
  readonly #connections: Channel[];
  readonly #free: Channel[];
  #waiting: number[] = [];
  #isClosed = false;

  constructor(crowd: ChatCrowd, connections: Channel[]) {
    this.#crowd = crowd;
    this.#connections = connections;
    this.#free = [...connections];
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

  async #publish(connection: Channel): Promise<void> {
    try {
      for (let number = this.#waiting.shift(); number !== undefined; number = this.#waiting.shift())
        await connection.send(JSON.stringify([messageOf(number)]));
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
