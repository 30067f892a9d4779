import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { bundle } from "./bundle.ts";
import { HttpConnection, requestText } from "./http.ts";
import type { Contender } from "./rounds.ts";
import { startNode, startWorkerd, VARIABLES } from "./runtimes.ts";
import type { Dialect } from "./viewers.ts";

/** A contender that accepts viewers at `connectPath` and broadcasts at /publish. */
export interface Broadcaster extends Contender {
  connectPath(room: string, viewer: number): string;
  dialect?: Dialect;
}

/** The Durable Objects of a channel. */
export const REALTIME = { CHANNEL: "Channel", BRANCH: "Branch", RELAY: "Relay", SITE_PRESENCE: "SitePresence" };

/** Tifo's objects; a relay accepts `capacity` viewers. */
export async function ourChannel(name = "Tifo", capacity = Number(VARIABLES["TIFO_RELAY_CAPACITY"])): Promise<Broadcaster> {
  const code = await bundle("bench/workers/realtime.ts");
  const variables = { ...VARIABLES, TIFO_RELAY_CAPACITY: String(capacity) };
  return { name, start: () => startWorkerd({ code, objects: REALTIME, variables }), connectPath: plainPath };
}

/** One Durable Object that stores the frame and sends it. */
export async function bareObject(): Promise<Broadcaster> {
  const code = await bundle("bench/workers/room.ts");
  return { name: "bare object", start: () => startWorkerd({ code, objects: { ROOM: "Room" }, variables: {} }), connectPath: plainPath };
}

export async function partyserver(): Promise<Broadcaster> {
  const code = await bundle("bench/workers/party.ts");
  return { name: "partyserver", start: () => startWorkerd({ code, objects: { ROOM: "Room" }, variables: {} }), connectPath: plainPath };
}

export function socketIo(): Broadcaster {
  return {
    name: "socket.io",
    start: () => startNode("bench/peers/socket-io.ts"),
    connectPath: (room) => `/socket.io/?EIO=4&transport=websocket&room=${room}`,
    // In Engine.IO, 2 is a ping, 3 is its reply, and 40 joins the default namespace.
    dialect: { hello: "40", reply: (message) => (message.length === 1 && message.readUInt8(0) === 0x32 ? "3" : undefined) },
  };
}

export function plainWs(): Broadcaster {
  return { name: "ws", start: () => startNode("bench/peers/ws.ts"), connectPath: plainPath };
}

function plainPath(room: string, viewer: number): string {
  return `/connect?room=${room}&device=viewer-${viewer}`;
}

/** A publisher: one connection, with a list of broadcasts per request. */
export class Publisher {
  readonly #connection: HttpConnection;
  readonly #room: string;
  #published: number;

  /** Publishers of one room need different numbers. */
  constructor(port: number, room: string, number = 0) {
    this.#connection = new HttpConnection(port);
    this.#room = room;
    this.#published = number * 1_000_000;
  }

  /** Publishes `count` overlays with `bytes` bytes of HTML. Resolves to the time of sending, once the server has responded. */
  async publish(bytes: number, count = 1): Promise<number> {
    const body = JSON.stringify(Array.from({ length: count }, () => this.#broadcast(bytes)));
    const request = requestText("POST", `/publish?room=${this.#room}`, {}, body);
    const sent = performance.now();
    const response = await this.#connection.send(request);
    if (response.status !== 200) throw new Error(`Not published: ${response.status} ${response.body}`);
    return sent;
  }

  close(): void {
    this.#connection.close();
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
