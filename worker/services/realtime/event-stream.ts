import { z } from "@hono/zod-openapi";
import { drainFrame, errorFrame } from "#worker/durable-objects/relay/frames.ts";
import { CLOSE, PING, PONG } from "#worker/durable-objects/relay/relay.protocol.ts";
import { type Connection, enter, type LoadGate } from "./realtime.ts";

const COMMENT_MS = 15_000;
/** The local runtime's proxy tells of a reader who left only when a write to it fails. */
const LOCAL_COMMENT_MS = 500;
const LIFETIME_MS = 3_600_000;
const RECONNECT_MS = 2_000;
/** Messages that wait for a reader; beyond them it is told to come back. */
const WAITING = 200;

const HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };

const Held = z.looseObject({
  type: z.string().optional(),
  close: z.number().optional(),
  upTo: z.number().optional(),
  epoch: z.string().optional(),
});
/** Milliseconds after which a browser asks again by itself for a stream that it was told not to get. */
const REJECTED_RETRY_MS = 60_000;
const FINAL: readonly number[] = [CLOSE.badRequest, CLOSE.unauthenticated, CLOSE.forbidden, CLOSE.notFound];

/** Reads `<epoch>:<seq>`, the id that every event carries and that a browser sends back on reconnecting. */
export function parseEventId(id: string | null | undefined): Connection["resume"] {
  const match = /^([0-9a-f]{1,64}):(\d{1,15})$/.exec(id ?? "");
  return match?.[1] && match[2] ? { epoch: match[1], seq: Number(match[2]) } : null;
}

/**
 * The channel's frames as Server-Sent Events. The Worker holds the stream and reads a relay's socket, so that the relay can hibernate.
 * `gone` tells that the reader has left, which a stream by itself learns only from its next write.
 */
export async function eventStream(env: Env, connection: Connection, loadGate: LoadGate, gone?: AbortSignal): Promise<Response> {
  const entered = await enter(env, connection, loadGate);
  if (!(entered instanceof Response) || !entered.webSocket) {
    const unavailable = { code: "unavailable", message: "No socket", close: CLOSE.unavailable };
    const { code, message, close } = entered instanceof Response ? unavailable : entered;
    return new Response(errorEvent(errorFrame(code, message, close), close), { headers: HEADERS });
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const stop = pump(entered.webSocket, writable.getWriter(), {
    heartbeatMs: Number(env.TIFO_HEARTBEAT_SECONDS) * 1000,
    commentMs: env.TIFO_DEVELOPMENT === "true" ? LOCAL_COMMENT_MS : COMMENT_MS,
  });
  gone?.addEventListener("abort", stop);
  return new Response(readable, { headers: HEADERS });
}

/** Writes every message of the socket as an event until either side ends; answers what ends it. */
function pump(
  socket: WebSocket,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  { heartbeatMs, commentMs }: { heartbeatMs: number; commentMs: number },
): () => void {
  const encoder = new TextEncoder();
  let waiting = 0;
  let epoch = "";
  let upTo = 0;
  const write = (text: string) => {
    waiting++;
    writer.write(encoder.encode(text)).then(() => waiting--, stop);
  };
  const end = () => {
    write(`data: ${drainFrame(upTo, RECONNECT_MS)}\n\n`);
    stop();
  };
  const pings = setInterval(() => socket.send(PING), heartbeatMs / 3);
  const comments = setInterval(() => write(": keep\n\n"), commentMs);
  const lifetime = setTimeout(end, LIFETIME_MS);
  let stopped = false;
  function stop(): void {
    if (stopped) return;
    stopped = true;
    clearInterval(pings);
    clearInterval(comments);
    clearTimeout(lifetime);
    writer.close().catch(() => undefined);
    socket.close(1000);
  }

  write(`retry: ${RECONNECT_MS}\n\n`);
  writer.closed.catch(stop);
  socket.addEventListener("close", stop);
  socket.addEventListener("error", stop);
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return;
    // An event of another name: a reader that can't see comments knows by it that the stream is alive.
    if (data === PONG) return write("event: pong\ndata: \n\n");
    const frames = readHeld(data);
    const [first] = frames;
    if (first?.type === "error") return write(errorEvent(data, first.close));
    epoch = frames.find((frame) => frame.epoch)?.epoch ?? epoch;
    upTo = frames.findLast((frame) => frame.upTo !== undefined)?.upTo ?? upTo;
    write(`id: ${epoch}:${upTo}\ndata: ${data}\n\n`);
    if (waiting > WAITING) end();
  });
  socket.accept();
  return stop;
}

/** An `error` frame as an event of that name, after which the stream ends. A browser reconnects by itself: where that is no use, not soon. */
function errorEvent(frame: string, close: number | undefined): string {
  const retry = close !== undefined && FINAL.includes(close) ? `retry: ${REJECTED_RETRY_MS}\n` : "";
  return `${retry}event: error\ndata: ${frame}\n\n`;
}

/** The positions that the frames of a message bring the viewer to. */
function readHeld(message: string): z.infer<typeof Held>[] {
  const content: unknown = JSON.parse(message);
  return z.array(Held).parse(Array.isArray(content) ? content : [content]);
}
