import type { Environment } from "./environment.ts";
import { FINAL_CLOSE_CODES, parseMessage, PING, type ServerFrame } from "./protocol.ts";

/** What a connection tells the channel. */
export interface TransportEvents {
  onOpen(): void;
  /** Anything came: `frames` is empty for an answer to a ping. */
  onMessage(frames: ServerFrame[]): void;
  /** It is over. `final`: the same request would be refused again. */
  onClose(reason: { final: boolean; code: number }): void;
}

/** One connection, of either kind. */
export interface Transport {
  /** False: this kind can't send, or can't now. */
  send(text: string): boolean;
  /** Asks for a sign of life; true when one is to come before the next time. */
  ping(): boolean;
  /** Whether that sign comes at once. */
  readonly repliesToPings: boolean;
  close(): void;
}

const OPEN = 1;
// Codes of `error` frames after which the same request would be refused again; sockets say it by their close code.
const FINAL_ERRORS: readonly string[] = ["unauthenticated", "forbidden", "not_found", "invalid_request"];

/** Frames over a WebSocket. */
export function socketTransport(environment: Environment, url: string, events: TransportEvents): Transport {
  const socket = environment.openSocket(url);
  let closed = false;
  socket.addEventListener("open", () => closed || events.onOpen());
  socket.addEventListener("message", ({ data }) => {
    if (!closed && typeof data === "string") events.onMessage(framesIn(data));
  });
  socket.addEventListener("close", ({ code }) => {
    if (closed) return;
    closed = true;
    events.onClose({ final: FINAL_CLOSE_CODES.includes(code), code });
  });
  function send(text: string): boolean {
    if (closed || socket.readyState !== OPEN) return false;
    socket.send(text);
    return true;
  }

  return {
    send,
    ping: () => send(PING),
    repliesToPings: true,
    close() {
      closed = true;
      socket.close();
    },
  };
}

/** The same frames as Server-Sent Events, for networks that let no WebSocket through. Null: the platform has none. */
export function eventsTransport(environment: Environment, url: string, events: TransportEvents): Transport | null {
  const source = environment.openEvents(url);
  if (!source) return null;
  let closed = false;
  const end = (final: boolean) => {
    if (closed) return;
    closed = true;
    // Its own way to reconnect would repeat the old position and the spent ticket.
    source.close();
    events.onClose({ final, code: 0 });
  };
  source.addEventListener("message", ({ data }) => {
    if (!closed && typeof data === "string") events.onMessage(framesIn(data));
  });
  source.addEventListener("pong", () => closed || events.onMessage([]));
  source.addEventListener("error", ({ data }) => {
    const frames = typeof data === "string" ? framesIn(data) : [];
    if (frames.length > 0 && !closed) events.onMessage(frames);
    end(frames.some((frame) => frame.type === "error" && FINAL_ERRORS.includes(frame.code)));
  });
  return {
    send: () => false,
    // The server says `pong` by itself, three times a heartbeat.
    ping: () => true,
    repliesToPings: false,
    close() {
      closed = true;
      source.close();
    },
  };
}

/** A message that is no JSON, such as `pong`, holds no frame. */
function framesIn(text: string): ServerFrame[] {
  try {
    return parseMessage(text);
  } catch {
    return [];
  }
}
