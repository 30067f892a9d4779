import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { bundle } from "./bundle.ts";
import { HttpConnection, requestText } from "./http.ts";
import type { Contender } from "./rounds.ts";
import { startNode, startWorkerd, VARIABLES } from "./runtimes.ts";
import type { Dialect } from "./viewers.ts";

/** A contender that accepts viewers at `connectPath`, and broadcasts at /publish unless it has channels of its own. */
export interface Broadcaster extends Contender {
  connectPath(room: string, viewer: number): string;
  dialect?: Dialect;
  openChannel?: (port: number, room: string) => Channel;
  /** Whether it passes texts on as they are, so that the publisher completes them. */
  isPipe?: boolean;
  /** What it doesn't do that Tifo does for each broadcast. */
  without: string;
}

/** A publisher's connection. */
export interface Channel {
  /** Resolves once the server has taken the text. */
  send(text: string): Promise<void>;
  close(): void;
}

/** Publishes over HTTP, unless the contender has a way of its own. */
export function openChannel(broadcaster: Broadcaster, port: number, room: string): Channel {
  return broadcaster.openChannel?.(port, room) ?? new HttpChannel(port, room);
}

export class HttpChannel implements Channel {
  readonly #connection: HttpConnection;
  readonly #room: string;

  constructor(port: number, room: string) {
    this.#connection = new HttpConnection(port);
    this.#room = room;
  }

  async send(text: string): Promise<void> {
    const response = await this.#connection.send(requestText("POST", `/publish?room=${this.#room}`, {}, text));
    if (response.status < 200 || response.status > 299) throw new Error(`Not published: ${response.status} ${response.body}`);
  }

  close(): void {
    this.#connection.close();
  }
}

/** The Durable Objects of a channel. */
export const REALTIME = { CHANNEL: "Channel", BRANCH: "Branch", RELAY: "Relay", SITE_PRESENCE: "SitePresence" };

/** Tifo's objects; a relay accepts `capacity` viewers. */
export async function ourChannel(name = "Tifo", capacity = Number(VARIABLES["TIFO_RELAY_CAPACITY"])): Promise<Broadcaster> {
  const code = await bundle("bench/workers/realtime.ts");
  const variables = { ...VARIABLES, TIFO_RELAY_CAPACITY: String(capacity) };
  return { name, start: () => startWorkerd({ code, objects: REALTIME, variables }), connectPath: plainPath, without: "" };
}

/** One Durable Object that stores the frame and sends it. */
export async function bareObject(): Promise<Broadcaster> {
  const code = await bundle("bench/workers/room.ts");
  return room("bare object", code, "receipts, gate, more than one object");
}

export async function partyserver(): Promise<Broadcaster> {
  const code = await bundle("bench/workers/party.ts");
  return room("partyserver", code, "receipts, gate, more than one object");
}

function room(name: string, code: string, without: string): Broadcaster {
  return { name, start: () => startWorkerd({ code, objects: { ROOM: "Room" }, variables: {} }), connectPath: plainPath, without };
}

export function socketIo(): Broadcaster {
  return {
    name: "socket.io",
    start: () => startNode("bench/peers/socket-io.ts"),
    connectPath: (room) => `/socket.io/?EIO=4&transport=websocket&room=${room}`,
    // In Engine.IO, 2 is a ping, 3 is its reply, and 40 joins the default namespace.
    dialect: { hello: "40", reply: (message) => (message.length === 1 && message.readUInt8(0) === 0x32 ? "3" : undefined) },
    without: "log, receipts, gate",
  };
}

export function plainWs(): Broadcaster {
  return { name: "ws", start: () => startNode("bench/peers/ws.ts"), connectPath: plainPath, without: "log, receipts, gate" };
}

function plainPath(room: string, viewer: number): string {
  return `/connect?room=${room}&device=viewer-${viewer}`;
}

/** A publisher: one connection, with a list of broadcasts per request. */
export class Publisher {
  readonly #channel: Channel;
  readonly #isPipe: boolean;
  #published: number;

  /** Publishers of one room need different numbers. */
  constructor(channel: Channel, { number = 0, isPipe = false }: { number?: number; isPipe?: boolean } = {}) {
    this.#channel = channel;
    this.#isPipe = isPipe;
    this.#published = number * 1_000_000;
  }

  /** Publishes `count` overlays with `bytes` bytes of HTML. Resolves to the time of sending, once the server has responded. */
  async publish(bytes: number, count = 1): Promise<number> {
    const broadcasts = Array.from({ length: count }, () => this.#broadcast(bytes));
    const seq = this.#published;
    const text = JSON.stringify(this.#isPipe ? { type: "overlay.show", seq, upTo: seq, ...broadcasts[0] } : broadcasts);
    const sent = performance.now();
    await this.#channel.send(text);
    return sent;
  }

  close(): void {
    this.#channel.close();
  }

  #broadcast(bytes: number): Broadcast {
    const startsAt = Date.now();
    return {
      broadcastId: (++this.#published).toString(16).padStart(24, "0"),
      overlayId: "5eed0000000000000000a001",
      startsAt,
      endsAt: startsAt + 3_600_000,
      position: "bottomCenter",
      contents: [{ kind: "html", html: "x".repeat(bytes), position: "bottomCenter" }],
      cta: null,
      variables: {},
      priority: 0,
    };
  }
}
