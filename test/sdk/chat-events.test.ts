import { describe, expect, test, vi } from "vitest";
import { joinChannel } from "#sdk/channel/index.ts";
import { chatRequests } from "#sdk/chat/requests.ts";
import { joinChat } from "#sdk/chat/index.ts";
import type { ServerFrame } from "#sdk/channel/index.ts";
import { createSession } from "#sdk/core/session.ts";
import { setUp } from "./channel-client.ts";
import { ME, message, messages, SETTINGS } from "./chat-room.ts";

const ADDRESS = { origin: "https://tifo.example", clientId: "5eed00000000000000000001", channelId: "5eed0000000000000000c001" };
const TOKEN = `${btoa("{}")}.${btoa(JSON.stringify({ sub: ME }))}.none`;

/** A viewer in the chat whose network blocks sockets. Responds to requests with `respond`. */
async function enter() {
  const { time, server, network } = setUp();
  network.allowsSockets = false;
  const requests: { method: string; path: string; body: unknown }[] = [];
  let respond: (body: unknown) => Response = () => Response.json({ _id: "m9", state: "visible" }, { status: 201 });
  vi.stubGlobal("fetch", async (request: Request) => {
    const body: unknown = await request.json();
    requests.push({ method: request.method, path: new URL(request.url).pathname, body });
    return respond(body);
  });
  let account = TOKEN;
  const listeners = new Set<(frame: ServerFrame) => void>();
  const connection = joinChannel({
    ...ADDRESS,
    environment: network.environment(),
    onFrame: (frame) => listeners.forEach((listener) => listener(frame)),
  });
  const session = createSession({ ...ADDRESS, delegate: { getUserToken: () => account } });
  const chat = joinChat({
    connection: {
      send: (frame) => connection.send(frame),
      isReceiveOnly: () => connection.isReceiveOnly(),
      onFrame: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    requests: chatRequests(session, ADDRESS.channelId),
    environment: { now: () => time.now },
    accountId: async () => account,
    language: "es",
  });
  await time.advance(10_000);
  return {
    ...{ time, server, connection, chat, requests },
    respondWith: (next: typeof respond) => (respond = next),
    signInAs: (next: string) => (account = next),
    /** The query of the open stream. */
    query: () => Object.fromEntries([...server.viewers].flatMap(({ wire }) => [...wire.url.searchParams])),
    history: async (list = messages(1, 3)): Promise<void> => {
      const rest = { recovered: false, updates: [], chatSeq: list.length, revision: 2, settings: SETTINGS };
      server.send({ type: "chat.history", messages: list, ...rest });
      await time.advance(200);
    },
    texts: () => chat.getSnapshot().items.map((item) => (item.kind === "message" ? item.message.text : item.kind)),
  };
}

describe("the chat over Server-Sent Events", () => {
  test("joins with the stream's URL, shows what arrives, and continues from there", async () => {
    const { server, time, query, history, texts, chat } = await enter();
    expect(query()).toMatchObject({ chat: "true", language: "es" });
    await history();
    server.send({ type: "chat.messages", messages: [message(4)], skipped: 0, chatSeq: 4 });
    server.send({ type: "chat.updated", messages: [message(2, { state: "removed", text: null })], revision: 3 });
    await time.advance(200);
    expect(texts()).toEqual(["Message 1", "Message 3", "Message 4"]);
    expect(chat.getSnapshot().status).toBe("live");
    server.cut(() => true);
    await time.advance(10_000);
    expect(query()).toMatchObject({ chat: "true", chatAfter: "4", chatRevision: "3", epoch: "e1" });
  });

  test("sends messages as requests, one after the other, with the ids of their frames", async () => {
    const { time, chat, requests, history, texts } = await enter();
    await history();
    chat.send("First");
    chat.send("Second", "m1");
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    const path = `/chat/v1/${ADDRESS.channelId}/messages`;
    expect(requests).toMatchObject([
      { method: "POST", path, body: { text: "First" } },
      { method: "POST", path, body: { text: "Second", replyTo: "m1" } },
    ]);
    for (const { body } of requests) expect(body).toHaveProperty("id", expect.stringMatching(/^[0-9a-f-]{36}$/));
    await time.advance(200);
    expect(texts()).toEqual(["Message 1", "Message 2", "Message 3", "outgoing", "outgoing"]);
  });

  test("shows the server's verdict on a message that it rejects", async () => {
    const { chat, history, respondWith } = await enter();
    await history();
    const problem = { code: "chat_slow_mode", message: "Slow mode is on" };
    respondWith(() => Response.json(problem, { status: 429, headers: { "Retry-After": "120" } }));
    chat.send("Too fast");
    await vi.waitFor(() =>
      expect(chat.getSnapshot().items.at(-1)).toMatchObject({ rejection: { message: "Slow mode is on. Try again in 120 seconds." } }),
    );
  });

  test("reacts by request, and takes a rejected reaction back", async () => {
    const { chat, history, requests, respondWith } = await enter();
    await history();
    respondWith(() => Response.json({ code: "invalid_request", message: "Not one of the room's emoji" }, { status: 400 }));
    chat.react("m1", "👍");
    expect(chat.getSnapshot().items[0]).toHaveProperty("message.reactions", { "👍": 1 });
    await vi.waitFor(() => expect(chat.getSnapshot().items[0]).toHaveProperty("message.reactions", {}));
    expect(requests).toMatchObject([{ method: "PUT", body: { emoji: "👍" } }]);
  });

  test("joins from the start for another viewer", async () => {
    const { time, connection, query, history, signInAs } = await enter();
    await history();
    signInAs("another");
    connection.rejoin();
    await time.advance(10_000);
    expect(query()).toMatchObject({ chat: "true" });
    expect(query()).not.toHaveProperty("chatAfter");
  });

  test("leaves with a stream that has no chat", async () => {
    const { time, chat, query, history } = await enter();
    await history();
    chat.leave();
    await time.advance(10_000);
    expect(query()).toMatchObject({ epoch: "e1" });
    expect(query()).not.toHaveProperty("chat");
  });
});
