import { beforeEach, describe, expect, test } from "vitest";
import type { SendOutcome, SendRequest } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { CALL_EVERY_MS, ChatSends } from "./chat-sends.ts";

/** The calls to the room, and what answers them. */
let calls: { ids: string[]; answer: PromiseWithResolvers<SendOutcome[]> }[];
let pauses: { ms: number; end: () => void }[];
let sends: ChatSends;

beforeEach(() => {
  calls = [];
  pauses = [];
  sends = new ChatSends({
    send: (requests) => {
      const answer = Promise.withResolvers<SendOutcome[]>();
      calls.push({ ids: requests.map(({ requestId }) => requestId), answer });
      return answer.promise;
    },
    wait: (ms) => new Promise((resolve) => pauses.push({ ms, end: resolve })),
  });
});

async function endPause(): Promise<void> {
  pauses.shift()?.end();
  await Promise.resolve();
}

function request(requestId: string): SendRequest {
  return { accountId: "a", device: null, requestId, text: "Goal!", replyTo: null, language: null, fresh: false };
}

const accepted = (messageId: string): SendOutcome => ({ ok: true, messageId, state: "visible" });

describe("A relay's messages to the room", () => {
  test("go at once when nobody else writes", async () => {
    const outcome = sends.send(request("1"));
    calls[0]?.answer.resolve([accepted("m1")]);
    expect(await outcome).toEqual(accepted("m1"));
    await endPause();
    void sends.send(request("2"));
    expect(calls.map(({ ids }) => ids)).toEqual([["1"], ["2"]]);
  });

  test("go together when they follow each other closely, and each gets its own outcome", async () => {
    void sends.send(request("1"));
    const outcomes = Promise.all([sends.send(request("2")), sends.send(request("3"))]);
    expect(pauses.map(({ ms }) => ms)).toEqual([CALL_EVERY_MS]);
    await endPause();
    expect(calls.map(({ ids }) => ids)).toEqual([["1"], ["2", "3"]]);
    const banned: SendOutcome = { ok: false, code: "chat_banned", message: "No" };
    calls[1]?.answer.resolve([accepted("m2"), banned]);
    expect(await outcomes).toEqual([accepted("m2"), banned]);
  });

  test("don't wait for a call that takes long", async () => {
    void sends.send(request("1"));
    const second = sends.send(request("2"));
    await endPause();
    calls[1]?.answer.resolve([accepted("m2")]);
    expect(await second).toEqual(accepted("m2"));
  });

  test("fail alone: the next ones go in a call of their own", async () => {
    const [first, second] = [sends.send(request("1")), sends.send(request("2"))];
    await endPause();
    calls[0]?.answer.reject(new Error("The room was restarted"));
    calls[1]?.answer.resolve([accepted("m2")]);
    await expect(first).rejects.toThrow("The room was restarted");
    expect(await second).toEqual(accepted("m2"));
  });

  test("fail if the room answers for fewer than it was sent", async () => {
    const outcome = sends.send(request("1"));
    calls[0]?.answer.resolve([]);
    await expect(outcome).rejects.toThrow("fewer messages");
  });
});
