import type { Environment } from "./environment.ts";
import { FINAL_CLOSE_CODES, parseMessage, PING, type ServerFrame } from "./protocol.ts";

/** Callbacks of a connection. */
export interface TransportEvents {
  onOpen(): void;
  /** A message arrived; `frames` is empty for a reply to a ping. */
  onMessage(frames: ServerFrame[]): void;
  /** The connection has ended. `final`: the same request would be rejected again. */
  onClose(reason: { final: boolean; code: number }): void;
}

/** A connection of either kind. */
export interface Transport {
  /** False if this kind can't send, or can't at the moment. */
  send(text: string): boolean;
  /** Requests a sign of life. True if one should arrive before the next ping. */
  ping(): boolean;
  /** Whether the sign of life is an immediate reply. */
  readonly repliesToPings: boolean;
  close(): void;
}

const OPEN = 1;
// Codes of `error` frames after which the same request would be rejected again; sockets use close codes instead.
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

/** The same frames as Server-Sent Events, for networks that block WebSockets. Null if the platform doesn't support them. */
export function eventsTransport(environment: Environment, url: string, events: TransportEvents): Transport | null {
  const source = environment.openEvents(url);
  if (!source) return null;
  let closed = false;
  const end = (final: boolean) => {
    if (closed) return;
    closed = true;
    // EventSource would reconnect by itself, with the old position and the used ticket.
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
    // The server sends `pong` unprompted, three times per heartbeat.
    ping: () => true,
    repliesToPings: false,
    close() {
      closed = true;
      source.close();
    },
  };
}

/** A message that isn't JSON, such as `pong`, contains no frame. */
function framesIn(text: string): ServerFrame[] {
  try {
    return parseMessage(text);
  } catch {
    return [];
  }
}
