import { z } from "@hono/zod-openapi";
import { drainFrame, errorFrame } from "#worker/durable-objects/relay/frames.ts";
import { CLOSE, PING, PONG } from "#worker/durable-objects/relay/relay.protocol.ts";
import { type Connection, enter, type LoadChannel } from "./realtime.ts";
import { numberOf } from "#worker/lib/variables.ts";

const COMMENT_MS = 15_000;
/** The local runtime's proxy reports a disconnected reader only when a write fails. */
const LOCAL_COMMENT_MS = 500;
const LIFETIME_MS = 3_600_000;
const RECONNECT_MS = 2_000;
/** How many messages may wait for a reader before it is told to reconnect. */
const MAX_WAITING = 200;

const HEADERS = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };

const Position = z.looseObject({
  type: z.string().optional(),
  close: z.number().optional(),
  upTo: z.number().optional(),
  epoch: z.string().optional(),
  chatSeq: z.number().optional(),
  revision: z.number().optional(),
});
/** Milliseconds after which a browser automatically retries a stream that was rejected. */
const REJECTED_RETRY_MS = 60_000;
const FINAL: readonly number[] = [CLOSE.badRequest, CLOSE.unauthenticated, CLOSE.forbidden, CLOSE.notFound];

/** Where a reader of the chat continues; empty: from the start. */
export interface ChatResume {
  after?: number;
  revision?: number;
}

/** A stream's connection; `chat`: it joins the chat. */
interface StreamConnection extends Connection {
  chat?: ChatResume | null;
}

const EVENT_ID = /^([0-9a-f]{1,64}):(\d{1,15})(?::(\d{1,15}):(\d{1,15}))?$/;

/** Reads `<epoch>:<seq>` or `<epoch>:<seq>:<chatSeq>:<revision>`, the id of every event, which a browser sends back on reconnecting. */
export function parseEventId(id: string | null | undefined): { resume: NonNullable<Connection["resume"]>; chat: ChatResume } | null {
  const [, epoch, seq, after, revision] = EVENT_ID.exec(id ?? "") ?? [];
  if (epoch === undefined || seq === undefined) return null;
  const chat = after === undefined || revision === undefined ? {} : { after: Number(after), revision: Number(revision) };
  return { resume: { epoch, seq: Number(seq) }, chat };
}

/**
 * The channel's frames as Server-Sent Events. The Worker holds the stream and reads a relay's socket, so that the relay can hibernate.
 * `disconnected` fires when the reader disconnects, which the stream itself would only notice at its next write.
 */
export async function eventStream(
  env: Env,
  connection: StreamConnection,
  load: LoadChannel,
  disconnected?: AbortSignal,
): Promise<Response> {
  const entered = await enter(env, connection, load);
  if (!(entered instanceof Response) || !entered.webSocket) {
    const unavailable = { code: "unavailable", message: "No socket", close: CLOSE.unavailable };
    const { code, message, close } = entered instanceof Response ? unavailable : entered;
    return new Response(errorEvent(errorFrame(code, message, close), close), { headers: HEADERS });
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const stop = pump(entered.webSocket, writable.getWriter(), {
    heartbeatMs: numberOf(env, "TIFO_HEARTBEAT_SECONDS") * 1000,
    commentMs: env.TIFO_DEVELOPMENT === "true" ? LOCAL_COMMENT_MS : COMMENT_MS,
    chat: connection.chat ?? null,
  });
  disconnected?.addEventListener("abort", stop);
  return new Response(readable, { headers: HEADERS });
}

/** Writes every message of the socket as an event until either side ends; returns a function that ends it. */
function pump(
  socket: WebSocket,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  { heartbeatMs, commentMs, chat }: { heartbeatMs: number; commentMs: number; chat: ChatResume | null },
): () => void {
  const encoder = new TextEncoder();
  let waiting = 0;
  let epoch = "";
  let upTo = 0;
  let chatPosition = { ...chat };
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
    // A separate event type: it shows readers that can't see comments that the stream is alive.
    if (data === PONG) return write("event: pong\ndata: \n\n");
    const frames = readPositions(data);
    const [first] = frames;
    if (first?.type === "error") return write(errorEvent(data, first.close));
    epoch = frames.find((frame) => frame.epoch)?.epoch ?? epoch;
    upTo = frames.findLast((frame) => frame.upTo !== undefined)?.upTo ?? upTo;
    for (const { chatSeq, revision } of frames)
      chatPosition = {
        ...chatPosition,
        ...(chatSeq === undefined ? {} : { after: chatSeq }),
        ...(revision === undefined ? {} : { revision }),
      };
    const { after, revision } = chatPosition;
    const chatId = chat && after !== undefined && revision !== undefined ? `:${after}:${revision}` : "";
    write(`id: ${epoch}:${upTo}${chatId}\ndata: ${data}\n\n`);
    if (waiting > MAX_WAITING) end();
  });
  socket.accept();
  if (chat) socket.send(JSON.stringify({ type: "chat.join", ...chat }));
  return stop;
}

/** An `error` frame as an event of that name, after which the stream ends. A longer `retry` slows down the browser's useless reconnects. */
function errorEvent(frame: string, close: number | undefined): string {
  const retry = close !== undefined && FINAL.includes(close) ? `retry: ${REJECTED_RETRY_MS}\n` : "";
  return `${retry}event: error\ndata: ${frame}\n\n`;
}

/** The positions in the frames of a message. */
function readPositions(message: string): z.infer<typeof Position>[] {
  const content: unknown = JSON.parse(message);
  return z.array(Position).parse(Array.isArray(content) ? content : [content]);
}
