import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";
import {
  type Broadcast,
  channelName,
  relayName,
  VIEWER_HEADER,
  type ViewerIdentity,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { PING, PONG, type ServerFrame, ServerMessage } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";

type FrameOf<Type> = Extract<ServerFrame, { type: Type }>;

/** The client's half of a socket: keeps what came, checked against the protocol. */
export class TestViewer {
  readonly frames: ServerFrame[] = [];
  /** Frames by message, to see what came together. */
  readonly messages: ServerFrame[][] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  readonly #waiting = new Set<() => void>();
  #pongs = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
    this.closed = promise;
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
    socket.addEventListener("message", ({ data }) => this.#receive(String(data)));
    socket.accept();
  }

  /** Resolves with the first frame, of those that came or will come, that fits. */
  async when(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async first<Type extends ServerFrame["type"]>(type: Type): Promise<FrameOf<Type>> {
    const isOfType = (frame: ServerFrame): frame is FrameOf<Type> => frame.type === type;
    await this.when(isOfType);
    const found = this.frames.find(isOfType);
    if (!found) throw new Error(`No ${type}`);
    return found;
  }

  /** Resolves when the viewer holds the log up to `seq`. */
  async waitForSeq(seq: number): Promise<void> {
    await this.when((frame) => "upTo" in frame && frame.upTo >= seq);
  }

  /** Positions of the log's frames, in the order in which they came. */
  get log(): number[] {
    return this.frames.flatMap((frame) => (frame.type !== "welcome" && "seq" in frame ? [frame.seq] : []));
  }

  get position(): number {
    return Math.max(...this.frames.map((frame) => ("upTo" in frame ? frame.upTo : 0)));
  }

  get open(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(): void {
    this.#socket.close(1000);
  }

  /** Pings, and resolves once the server has answered. */
  async ping(): Promise<void> {
    const before = this.#pongs;
    this.send(PING);
    while (this.#pongs === before) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #receive(data: string): void {
    if (data === PONG) {
      this.#pongs++;
      this.#wake();
      return;
    }
    const message = ServerMessage.parse(JSON.parse(data));
    const frames = Array.isArray(message) ? message : [message];
    this.messages.push(frames);
    this.frames.push(...frames);
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** Runs work while every clock of the Worker says another time than the machine's. */
export async function atTime<T>(now: number, work: () => Promise<T>): Promise<T> {
  const clock = vi.spyOn(Date, "now").mockReturnValue(now);
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

/** Has a channel do what it scheduled for a moment that has not come yet. */
export async function runAlarmAt(stub: DurableObjectStub, now: number): Promise<void> {
  const ran = await atTime(now, () => runDurableObjectAlarm(stub));
  if (!ran) throw new Error("Nothing was scheduled");
}

/** A channel that no other test uses. */
export function newChannel(siteId = newId(Date.now())) {
  const channelId = newId(Date.now());
  const name = channelName(siteId, channelId);
  return {
    siteId,
    channelId,
    // Made anew at each use: a stub does not outlive a crash of its object.
    get stub() {
      return env.CHANNEL.getByName(name);
    },
    get presence() {
      return env.SITE_PRESENCE.getByName(siteId);
    },
    relay: (k = 0) => env.RELAY.getByName(relayName(name, k)),
  };
}
export type TestChannel = ReturnType<typeof newChannel>;

export function requestToRelay(channel: TestChannel, viewer: Partial<ViewerIdentity> & { relay?: number } = {}): Promise<Response> {
  const { relay, ...identity } = viewer;
  const nobody = { accountId: null, sessionId: null, device: null, network: null, tags: [], resume: null, nonce: null, gate: null };
  const full: ViewerIdentity = { ...nobody, ...identity };
  const headers = { Upgrade: "websocket", [VIEWER_HEADER]: encodeURIComponent(JSON.stringify(full)) };
  return channel.relay(relay).fetch("https://relay/", { headers });
}

/** Joins as the Worker would, and leaves when the test ends. */
export async function join(channel: TestChannel, viewer: Parameters<typeof requestToRelay>[1] = {}): Promise<TestViewer> {
  const { webSocket, status } = await requestToRelay(channel, viewer);
  if (!webSocket) throw new Error(`Not let in: ${status}`);
  const joined = watch(webSocket);
  await joined.first("welcome");
  return joined;
}

export function watch(socket: WebSocket): TestViewer {
  const viewer = new TestViewer(socket);
  onTestFinished(() => {
    if (viewer.open) viewer.close();
  });
  return viewer;
}

export function newBroadcast(change: Partial<Broadcast> = {}): Broadcast {
  const now = Date.now();
  return {
    broadcastId: newId(now),
    overlayId: newId(now),
    startsAt: now,
    endsAt: now + 60_000,
    position: "center",
    contents: [{ kind: "html", html: "<b>Goal</b>", position: "center" }],
    cta: null,
    variables: {},
    priority: 0,
    ...change,
  };
}

/** A broadcast whose text takes two bytes for each of its 100,000 characters: 170 of them are more than the platform carries in a call. */
export function newHugeBroadcast(change: Partial<Broadcast> = {}): Broadcast {
  return newBroadcast({ contents: [{ kind: "html", html: "…".repeat(100_000), position: "center" }], ...change });
}

/** Evicts an object that may have been evicted before. */
export async function evict(stub: DurableObjectStub): Promise<void> {
  try {
    await evictDurableObject(stub);
  } catch (error) {
    if (!String(error).includes("not currently running")) throw error;
  }
}
