import { rm } from "node:fs/promises";
import { z } from "@hono/zod-openapi";
import { WebSocket } from "ws";
import { type ChannelConnection, joinChannel, type Position, type ServerFrame, type SocketLike } from "../../sdk/channel/index.ts";
import { startServer, temporaryState } from "./server.ts";

const SITE = "5eed00000000000000000001";
const CHANNEL = "5eed0000000000000000c001";
const OVERLAY = "5eed0000000000000000a001";
const HEADERS = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
const BROADCAST_MS = 150;
const CUT_MS = 300;
/** How many of the sockets are cut at a time. */
const CUT_SHARE = 0.1;

const Sent = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string(), seq: z.number() })]) });

export interface ChaosOptions {
  clients: number;
  seconds: number;
  /** How often the server is killed and started again. */
  kills: number;
}

export interface ChaosOutcome {
  /** Broadcasts that the server acknowledged. */
  acknowledged: number;
  /** Frames that the channel's log holds. */
  logged: number;
  /** Connections that were made in all. */
  connections: number;
  /** Broadcasts that were acknowledged and are not in the log. */
  lost: string[];
  /** Clients whose frames are not the log's, in order, once. */
  wrong: string[];
}

/** Clients of one channel while their sockets are cut at random and the server is killed and started again, until all hold all. */
export async function surviveChaos({ clients: count, seconds, kills }: ChaosOptions): Promise<ChaosOutcome> {
  const state = await temporaryState();
  let server = await startServer({ state });
  const { url } = server;
  const network = new Network();
  const clients = Array.from({ length: count }, (_, index) => new Client(url, `chaos-${index}`, network));
  const acknowledged: { broadcastId: string; seq: number }[] = [];
  const chaos = new AbortController();
  const every = (interval: number, work: () => void): void => {
    const timer = setInterval(work, interval);
    chaos.signal.addEventListener("abort", () => clearInterval(timer));
  };
  try {
    await Promise.all(clients.map((client) => client.holds(0)));
    every(CUT_MS, () => network.cut(CUT_SHARE));
    // While the server is down nothing is acknowledged, and nothing is owed.
    every(BROADCAST_MS, () => void broadcast(url).then((sent) => acknowledged.push(sent), ignore));
    for (let kill = 0; kill < kills; kill++) {
      await pause((seconds * 1000) / (kills + 1));
      await server.kill();
      server = await startServer({ state, port: Number(new URL(url).port) });
    }
    await pause((seconds * 1000) / (kills + 1));
    chaos.abort();
    const last = await broadcast(url);
    acknowledged.push(last);
    await Promise.all(clients.map((client) => client.holds(last.seq)));
    const log = await readLog(url, clients[0]?.epoch ?? "", last.seq);
    return {
      acknowledged: acknowledged.length,
      logged: log.length,
      connections: network.opened,
      lost: acknowledged.map(({ broadcastId }) => broadcastId).filter((id) => !log.some((frame) => frame.includes(id))),
      wrong: clients.filter((client) => !client.agreesWith(log)).map(({ name }) => name),
    };
  } finally {
    chaos.abort();
    for (const client of clients) client.leave();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Sockets that can be cut as networks cut them: without a word. */
class Network {
  opened = 0;
  readonly #open = new Set<WebSocket>();

  readonly openSocket = (url: string): SocketLike => {
    const socket = new WebSocket(url);
    this.opened++;
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
    // A server that is down is told by the close that follows.
    socket.on("error", ignore);
    return socket;
  };

  cut(share: number): void {
    for (const socket of this.#open) if (Math.random() < share) socket.terminate();
  }
}

/** A client and every logged frame that it was given. */
class Client {
  readonly name: string;
  epoch = "";
  /** Position of the first welcome; what came before it is none of this client's business. */
  #from: number | undefined;
  #startedOver = false;
  readonly #frames: string[] = [];
  readonly #connection: ChannelConnection;
  #waiting: { seq: number; done: () => void }[] = [];

  constructor(origin: string, name: string, network: Network, resume?: Position) {
    this.name = name;
    this.#connection = joinChannel({
      origin,
      clientId: SITE,
      channelId: CHANNEL,
      deviceId: name,
      resume,
      environment: { openSocket: network.openSocket, openEvents: () => null },
      onFrame: (frame) => this.#take(frame),
    });
  }

  /** Resolves once it holds this position. */
  async holds(seq: number): Promise<void> {
    if (this.#held >= seq) return;
    await new Promise<void>((done) => this.#waiting.push({ seq, done }));
  }

  get frames(): readonly string[] {
    return this.#frames;
  }

  /** Whether its frames are those of the log since it came, in order, once. */
  agreesWith(log: readonly string[]): boolean {
    const mine = log.slice(this.#from);
    return !this.#startedOver && mine.length === this.#frames.length && mine.every((frame, index) => frame === this.#frames[index]);
  }

  leave(): void {
    this.#connection.leave();
  }

  get #held(): number {
    return this.#from === undefined ? -1 : (this.#connection.position()?.seq ?? -1);
  }

  #take(frame: ServerFrame): void {
    if (frame.type === "welcome") {
      this.epoch = frame.epoch;
      this.#startedOver ||= this.#from !== undefined && !frame.recovered;
      this.#from ??= frame.upTo;
    } else if ("seq" in frame) this.#frames.push(`${frame.seq} ${frame.type} ${"broadcastId" in frame ? frame.broadcastId : ""}`);
    // The position moves once the frame was taken.
    queueMicrotask(() => {
      this.#waiting = this.#waiting.filter(({ seq, done }) => (this.#held >= seq ? done() : true));
    });
  }
}

/** All that the channel's log holds, read by one who comes back from its very beginning. */
async function readLog(url: string, epoch: string, upTo: number): Promise<readonly string[]> {
  const reader = new Client(url, "reader", new Network(), { epoch, seq: 0 });
  await reader.holds(upTo);
  reader.leave();
  return reader.frames;
}

async function broadcast(url: string): Promise<{ broadcastId: string; seq: number }> {
  const response = await fetch(`${url}/overlay/v1/broadcast/${OVERLAY}`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ channelId: CHANNEL, duration: 600, variables: { scorer: "Ada Moreno", minute: 17 } }),
  });
  return Sent.parse(await response.json()).broadcasts[0];
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function ignore(): void {}
