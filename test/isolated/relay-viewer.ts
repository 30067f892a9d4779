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
import { branchName, DIRECT_RELAYS } from "#worker/durable-objects/branch/branch.protocol.ts";
import { PING, PONG, type ServerFrame, ServerMessage } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";

type FrameOf<Type> = Extract<ServerFrame, { type: Type }>;

/** A client's end of a socket: keeps all frames, validated against the protocol. */
export class TestViewer {
  readonly frames: ServerFrame[] = [];
  /** The frames of each message. */
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

  /** Waits for the first frame that matches, including those already received. */
  async when(matches: (frame: ServerFrame) => boolean): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.find(matches);
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

  /** Waits until the viewer has the log up to `seq`. */
  async waitForSeq(seq: number): Promise<void> {
    await this.when((frame) => "upTo" in frame && frame.upTo >= seq);
  }

  /** Positions of the log's frames, in the order of arrival. */
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

  /** Sends a ping and waits for the pong. */
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

/** Runs `work` with the Worker's clock set to `now`. */
export async function atTime<T>(now: number, work: () => Promise<T>): Promise<T> {
  const clock = vi.spyOn(Date, "now").mockReturnValue(now);
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

/** Runs an object's alarm with the clock set to `now`. */
export async function runAlarmAt(stub: DurableObjectStub, now: number): Promise<void> {
  const ran = await atTime(now, () => runDurableObjectAlarm(stub));
  if (!ran) throw new Error("No alarm was set");
}

/** Where the relays of a test may be: everything holds for both. `firstRelay` is a channel's relay 0. */
export const PLACES = [
  { place: "called directly", firstRelay: 0 },
  { place: "behind a branch", firstRelay: DIRECT_RELAYS },
];

/** A channel that no other test uses. */
export function newChannel(siteId = newId(Date.now()), firstRelay = 0) {
  const channelId = newId(Date.now());
  const name = channelName(siteId, channelId);
  return {
    siteId,
    channelId,
    // Created for each use, because a stub doesn't survive a crash of its object.
    get stub() {
      return env.CHANNEL.getByName(name);
    },
    get presence() {
      return env.SITE_PRESENCE.getByName(siteId);
    },
    relay: (k = 0) => env.RELAY.getByName(relayName(name, firstRelay + k)),
    branch: (branch = 0) => env.BRANCH.getByName(branchName(name, branch)),
  };
}
export type TestChannel = ReturnType<typeof newChannel>;

export function requestToRelay(
  channel: Pick<TestChannel, "relay">,
  viewer: Partial<ViewerIdentity> & { relay?: number } = {},
): Promise<Response> {
  const { relay, ...identity } = viewer;
  const nobody = {
    accountId: null,
    sessionId: null,
    outputId: null,
    device: null,
    network: null,
    tags: [],
    language: null,
    country: null,
    segments: { version: 0, slugs: [] },
    resume: null,
    nonce: null,
    gate: null,
  };
  const full: ViewerIdentity = { ...nobody, ...identity };
  const headers = { Upgrade: "websocket", [VIEWER_HEADER]: encodeURIComponent(JSON.stringify(full)) };
  return channel.relay(relay).fetch("https://relay/", { headers });
}

/** Joins as the Worker would, and disconnects when the test ends. */
export async function join(channel: Pick<TestChannel, "relay">, viewer: Parameters<typeof requestToRelay>[1] = {}): Promise<TestViewer> {
  const { webSocket, status } = await requestToRelay(channel, viewer);
  if (!webSocket) throw new Error(`Not admitted: ${status}`);
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

/** A broadcast with 100,000 two-byte characters: 170 of them exceed what the platform allows in one call. */
export function newHugeBroadcast(change: Partial<Broadcast> = {}): Broadcast {
  return newBroadcast({ contents: [{ kind: "html", html: "…".repeat(100_000), position: "center" }], ...change });
}

/** Evicts an object, unless it isn't running. */
export async function evict(stub: DurableObjectStub): Promise<void> {
  try {
    await evictDurableObject(stub);
  } catch (error) {
    if (!String(error).includes("not currently running")) throw error;
  }
}
