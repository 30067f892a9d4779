import type { ServerFrame, ViewerFrame, CLOSE } from "../../../../worker/durable-objects/relay.protocol.ts";

type FrameType = ServerFrame["type"];
export type ConnectionState = "connecting" | "live" | "resuming" | "offline";

export interface ChannelOptions {
  /** Origin of the server, http or https. */
  origin: string;
  clientId: string;
  channelId: string;
  deviceId: string;
  onState: (state: ConnectionState, reason?: string) => void;
  /** Each frame once, in order. */
  onFrame: (frame: ServerFrame) => void;
  onSent?: (frame: ViewerFrame) => void;
}

// Closes after which the same request would be refused again.
const FINAL_CLOSES: readonly number[] = [4400, 4401, 4403, 4404] satisfies (typeof CLOSE)[keyof typeof CLOSE][];
const PING = "ping";
const PONG = "pong";
const FIRST_DELAY = 500;
const LONGEST_DELAY = 20_000;
// The server takes 20 frames a second from a viewer; a burst is acknowledged by its last number.
const ACK_INTERVAL = 100;

const FRAME_TYPES: Record<FrameType, true> = {
  "overlay.show": true,
  "overlay.clear": true,
  "stream.live": true,
  "stream.offline": true,
  "page.updated": true,
  "quest.updated": true,
  "account.changed": true,
  "vote.result": true,
  rule: true,
  concurrents: true,
  "poll.updated": true,
  welcome: true,
  drain: true,
  error: true,
};

/** A frame of a type that this page knows; its shape is the server's to keep. */
function isFrame(value: unknown): value is ServerFrame {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && value.type in FRAME_TYPES;
}

/** The frames of one message: a message is a frame or a list of frames. Unknown types are left out, for servers newer than the page. */
export function parseMessage(text: string): ServerFrame[] {
  const value: unknown = JSON.parse(text);
  return (Array.isArray(value) ? value : [value]).filter(isFrame);
}

/** Milliseconds until the `attempt`-th try (from 0): anything up to an exponentially growing bound, so that a crowd spreads out. */
export function reconnectDelay(attempt: number, random = Math.random): number {
  return random() * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);
}

/**
 * Joins a channel and stays in it: reconnects with full jitter, resumes where it stopped, keeps the socket alive and acknowledges.
 * Returns the function that leaves.
 */
export function joinChannel(options: ChannelOptions): () => void {
  let socket: WebSocket | undefined;
  let epoch: string | undefined;
  let held = 0;
  let attempt = 0;
  let left = false;
  let heard = false;
  let acknowledged = 0;
  let ackTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let pingTimer: ReturnType<typeof setInterval> | undefined;

  function address(): string {
    const url = new URL(`/realtime/v1/channels/${options.channelId}`, options.origin);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("clientId", options.clientId);
    url.searchParams.set("deviceId", options.deviceId);
    if (epoch !== undefined) {
      url.searchParams.set("epoch", epoch);
      url.searchParams.set("seq", String(held));
    }
    return url.href;
  }

  function open(): void {
    clearTimeout(retryTimer);
    const mine = new WebSocket(address());
    socket = mine;
    let refusal: string | undefined;
    mine.addEventListener("message", ({ data }) => {
      if (socket !== mine || typeof data !== "string") return;
      heard = true;
      if (data === PONG) return;
      for (const frame of parseMessage(data)) {
        if (frame.type === "error") refusal = frame.message;
        if (frame.type === "drain") leaveSoon(mine, frame.reconnectIn);
        take(frame);
      }
      acknowledge();
    });
    mine.addEventListener("close", ({ code }) => {
      if (socket === mine) lost(FINAL_CLOSES.includes(code) ? (refusal ?? `The server closed the channel (${code}).`) : undefined);
    });
  }

  function take(frame: ServerFrame): void {
    if (frame.type === "welcome") begin(frame);
    else if ("seq" in frame && frame.seq <= held) return;
    options.onFrame(frame);
    if (frame.type !== "error") held = Math.max(held, frame.upTo);
  }

  /** Counts on from the welcome's position: where we stopped if what we missed follows, else where the channel stands. */
  function begin({ epoch: current, upTo, heartbeat }: Extract<ServerFrame, { type: "welcome" }>): void {
    attempt = 0;
    epoch = current;
    held = acknowledged = upTo;
    keepAlive(heartbeat);
    options.onState("live");
  }

  /** Acknowledges at once, and what comes within the next interval with one more acknowledgement at its end. */
  function acknowledge(): void {
    if (held <= acknowledged || ackTimer !== undefined || socket?.readyState !== WebSocket.OPEN) return;
    acknowledged = held;
    const frame: ViewerFrame = { type: "ack", seq: held };
    socket.send(JSON.stringify(frame));
    options.onSent?.(frame);
    ackTimer = setTimeout(() => {
      ackTimer = undefined;
      acknowledge();
    }, ACK_INTERVAL);
  }

  /** Pings at two thirds of the heartbeat; a socket on which nothing came back by the next ping is dead, whatever the browser thinks. */
  function keepAlive(heartbeat: number): void {
    clearInterval(pingTimer);
    heard = true;
    pingTimer = setInterval(
      () => {
        if (!heard) return lost();
        heard = false;
        socket?.send(PING);
      },
      (heartbeat * 2000) / 3,
    );
  }

  /** The server asks its viewers to come back elsewhere, at a moment of their own within the next `within` milliseconds and as long again. */
  function leaveSoon(mine: WebSocket, within: number): void {
    retryTimer = setTimeout(() => socket === mine && reopen(), within * (1 + Math.random()));
  }

  function reopen(): void {
    hangUp();
    options.onState("resuming");
    open();
  }

  function lost(refusal?: string): void {
    hangUp();
    if (left) return;
    if (refusal !== undefined) return options.onState("offline", refusal);
    if (navigator.onLine === false) return options.onState("offline", "This browser has no network.");
    options.onState(epoch === undefined ? "connecting" : "resuming");
    retryTimer = setTimeout(open, reconnectDelay(attempt++));
  }

  function hangUp(): void {
    clearInterval(pingTimer);
    clearTimeout(retryTimer);
    clearTimeout(ackTimer);
    ackTimer = undefined;
    const mine = socket;
    socket = undefined;
    mine?.close();
  }

  function online(): void {
    if (socket === undefined) reopen();
  }

  function leave(): void {
    left = true;
    removeEventListener("online", online);
    hangUp();
  }

  addEventListener("online", online);
  options.onState("connecting");
  open();
  return leave;
}
