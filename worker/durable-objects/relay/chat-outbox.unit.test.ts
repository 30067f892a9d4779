import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ChatOutbox, OVERLAY_MS, SLICE } from "./chat-outbox.ts";

const SOCKETS = Array.from({ length: 2.5 * SLICE }, (_, socket) => `s${socket}`);

let sent: string[];
/** The pauses that the outbox makes, and what continues it. */
let pauses: { ms: number; end: () => void }[];
let outbox: ChatOutbox<string>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  sent = [];
  pauses = [];
  outbox = new ChatOutbox<string>({
    send: (socket, text) => sent.push(`${socket} ${text}`),
    wait: (ms) => new Promise((resolve) => pauses.push({ ms, end: resolve })),
  });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Ends the current pause; returns how long it was to last. */
async function endPause(): Promise<number | undefined> {
  const pause = pauses.shift();
  vi.setSystemTime(Date.now() + (pause?.ms ?? 0));
  pause?.end();
  await Promise.resolve();
  return pause?.ms;
}

const sendAll = (text: string) => outbox.send(SOCKETS, () => [text]);

describe("The chat's outbox", () => {
  test("sends one slice in a turn, so that an overlay in between overtakes the rest", async () => {
    const sending = sendAll("chat");
    expect(sent).toHaveLength(SLICE);
    sent.push("overlay");
    await endPause();
    await endPause();
    await sending;
    expect(sent.indexOf("overlay")).toBe(SLICE);
    expect(sent.filter((text) => text !== "overlay")).toEqual(SOCKETS.map((socket) => `${socket} chat`));
  });

  test("waits after an overlay, but not for a second one that follows it closely", async () => {
    void sendAll("chat");
    outbox.yieldToOverlay(Date.now());
    expect(await endPause()).toBe(0);
    expect([sent.length, await endPause()]).toEqual([SLICE, OVERLAY_MS]);
    expect(sent).toHaveLength(2 * SLICE);
    outbox.yieldToOverlay(Date.now());
    expect(await endPause()).toBe(0);
    expect(sent).toHaveLength(SOCKETS.length);
  });

  test("sends one slice in a turn, too, when a second batch comes before the first has gone out", () => {
    void sendAll("first");
    void sendAll("second");
    expect([sent.length, pauses.length]).toEqual([SLICE, 1]);
  });

  test("keeps the order of two batches at every socket", async () => {
    const both = Promise.all([sendAll("first"), sendAll("second")]);
    while (pauses.length > 0) await endPause();
    await both;
    for (const socket of SOCKETS)
      expect(sent.filter((text) => text.startsWith(`${socket} `))).toEqual([`${socket} first`, `${socket} second`]);
  });

  test("composes a frame when it is the socket's turn, with the rights of that moment", async () => {
    let rights = "moderator";
    const sending = outbox.send(SOCKETS, () => [rights]);
    rights = "viewer";
    while (pauses.length > 0) await endPause();
    await sending;
    expect([sent[0], sent.at(-1)]).toEqual(["s0 moderator", `${SOCKETS.at(-1)} viewer`]);
  });

  test("sends to nobody without waiting", async () => {
    await outbox.send([], () => ["chat"]);
    expect([sent, pauses]).toEqual([[], []]);
  });
});
