import { once } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type WebSocket as ServerSocket, WebSocketServer } from "ws";
import type { ServerFrame } from "../../../../worker/durable-objects/relay.protocol.ts";
import { type ConnectionState, joinChannel, parseMessage, reconnectDelay } from "./channel-connection.ts";

const WELCOME = { type: "welcome", epoch: "e1", seq: 5, upTo: 5, recovered: false, overlays: [], concurrents: 1, heartbeat: 30 } as const;
const clear = (seq: number) => ({ type: "overlay.clear", seq, upTo: seq, broadcastIds: [] }) as const;

let server: WebSocketServer;
let leave: (() => void) | undefined;

beforeEach(async () => {
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("removeEventListener", () => undefined);
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
});

afterEach(() => {
  leave?.();
  server.close();
  vi.unstubAllGlobals();
});

/** Joins and collects what the page would see. */
function join() {
  const frames: ServerFrame[] = [];
  const states: ConnectionState[] = [];
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  leave = joinChannel({
    origin: `http://127.0.0.1:${port}`,
    clientId: "site",
    channelId: "channel",
    deviceId: "device",
    onState: (state) => states.push(state),
    onFrame: (frame) => frames.push(frame),
  });
  return { frames, states, seqs: () => frames.flatMap((frame) => (frame.type !== "welcome" && "seq" in frame ? [frame.seq] : [])) };
}

/** The next viewer's socket, and the query of its address. */
async function accept(): Promise<{
  socket: ServerSocket;
  query: URLSearchParams;
  send: (message: unknown) => void;
  next: () => Promise<unknown>;
}> {
  const [socket, request]: [ServerSocket, { url?: string }] = await new Promise((resolve) => {
    server.once("connection", (one: ServerSocket, from: { url?: string }) => resolve([one, from]));
  });
  return {
    socket,
    query: new URL(request.url ?? "", "http://x").searchParams,
    send: (message) => socket.send(JSON.stringify(message)),
    next: async () => new Promise((resolve) => socket.once("message", (data: Buffer) => resolve(JSON.parse(data.toString())))),
  };
}

test("resumes a lost connection where it stopped, and takes each frame once", async () => {
  const viewer = join();
  const first = await accept();
  expect(first.query.get("clientId")).toBe("site");
  expect(first.query.has("seq")).toBe(false);
  first.send(WELCOME);
  first.send(clear(6));
  expect(await first.next()).toEqual({ type: "ack", seq: 6 });

  const returning = accept();
  first.socket.terminate();
  const second = await returning;
  expect(Object.fromEntries(second.query)).toMatchObject({ epoch: "e1", seq: "6" });
  second.send({ ...WELCOME, seq: 8, upTo: 6, recovered: true });
  second.send([clear(6), clear(7), clear(8)]);
  expect(await second.next()).toEqual({ type: "ack", seq: 8 });
  expect(viewer.seqs()).toEqual([6, 7, 8]);
  expect(viewer.states).toEqual(["connecting", "live", "resuming", "live"]);
});

test("counts on from the server's position where nothing can be resumed", async () => {
  join();
  const first = await accept();
  first.send(WELCOME);
  first.send(clear(6));
  await first.next();
  const returning = accept();
  first.socket.terminate();
  const second = await returning;
  second.send({ ...WELCOME, epoch: "e2", seq: 2, upTo: 2 });
  second.send(clear(3));
  expect(await second.next()).toEqual({ type: "ack", seq: 3 });
});

test("stays away after a refusal and tells its reason", async () => {
  const told = new Promise((resolve) => {
    const address = server.address();
    leave = joinChannel({
      origin: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
      clientId: "site",
      channelId: "none",
      deviceId: "device",
      onState: (state, reason) => state === "offline" && resolve(reason),
      onFrame: () => undefined,
    });
  });
  const { socket, send } = await accept();
  send({ type: "error", code: "not_found", message: "No such channel" });
  socket.close(4404);
  expect(await told).toBe("No such channel");
});

test("leaves out frames of types that it doesn't know", () => {
  expect(parseMessage(JSON.stringify([clear(1), { type: "from.the.future" }, null, 7]))).toEqual([clear(1)]);
});

test("waits anything up to a bound that doubles and then stays", () => {
  const longest = (attempt: number) => reconnectDelay(attempt, () => 1);
  expect([0, 1, 2, 3].map(longest)).toEqual([500, 1000, 2000, 4000]);
  expect(longest(50)).toBe(20_000);
  expect(reconnectDelay(3, () => 0)).toBe(0);
});
