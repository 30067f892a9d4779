import { abortAllDurableObjects } from "cloudflare:test";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { MessageIntake } from "#worker/durable-objects/chat-room/message-intake.ts";
import { newId } from "#worker/lib/ids.ts";
import type { TestAccount, TestSite } from "../harness.ts";
import { type ChatSite, connectChatter, enterChat, isGone, newChatSite, roomOf } from "./chatters.ts";
import { atTime, evict } from "./relay-viewer.ts";

let site: TestSite;
let ann: TestAccount;
let ben: TestAccount;
let moderator: TestAccount;
let newRoom: ChatSite["newRoom"];

beforeAll(async () => {
  ({ site, ann, ben, moderator, newRoom } = await newChatSite());
});

describe("A chat room", () => {
  test("delivers a message to everybody who has joined, and to nobody else", async () => {
    const channel = await newRoom();
    const [a, b, anonymous] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben), await enterChat(site, channel)];
    const outside = await connectChatter(site, channel, ben);
    const id = await a.says("Hello <b>all</b>");
    for (const chatter of [a, b, anonymous]) {
      const message = await chatter.sees(id);
      expect(message).toMatchObject({ chatSeq: 1, name: "Ann", accountId: ann.id, text: "Hello <b>all</b>", state: "visible" });
      expect(message).not.toHaveProperty("original");
    }
    expect(outside.of("chat.messages")).toEqual([]);
  });

  test("rejects anonymous senders and invalid texts without closing the socket", async () => {
    const channel = await newRoom();
    const anonymous = await enterChat(site, channel);
    expect(await anonymous.say("Hi")).toMatchObject({ ok: false, code: "unauthenticated" });
    const a = await enterChat(site, channel, ann);
    for (const text of ["", " \u200b ", "🎉".repeat(501)]) expect(await a.say(text)).toMatchObject({ ok: false, code: "invalid_request" });
    expect(await a.say("x", { replyTo: newId(1) })).toMatchObject({ ok: false, code: "invalid_request" });
    expect(a.viewer.open).toBe(true);
    expect(await a.says("🎉".repeat(500))).toMatch(/^[0-9a-f]{24}$/);
  });

  test("stores a repeated send once, also at the same time", async () => {
    const channel = await newRoom();
    const a = await enterChat(site, channel, ann);
    const id = newId(Date.now());
    const request = { accountId: ann.id, requestId: id, text: "Once", replyTo: null, language: null, fresh: false };
    const results = await Promise.all([roomOf(site, channel).send(request), roomOf(site, channel).send(request), a.say("Once", { id })]);
    const ids = new Set(results.map((result) => ("messageId" in result ? result.messageId : null)));
    expect(ids.size).toBe(1);
    expect((await enterChat(site, channel)).history.messages).toHaveLength(1);
  });

  test("gives each message of a call its own outcome, even if another one fails", async () => {
    const room = roomOf(site, await newRoom());
    const request = (requestId: string, text: string) => ({
      accountId: ann.id,
      requestId,
      text,
      replyTo: null,
      language: null,
      fresh: false,
    });
    const failing = vi.spyOn(MessageIntake.prototype, "send").mockRejectedValueOnce(new Error("The database is away"));
    const outcomes = await room.sendAll([request("1", "One"), request("2", ""), request("3", "Three")]);
    failing.mockRestore();
    expect(outcomes).toMatchObject([{ ok: false, code: "unavailable" }, { ok: false, code: "invalid_request" }, { ok: true }]);
    expect(await room.sendAll([request("1", "One")])).toMatchObject([{ ok: true }]);
  });

  test("limits an account to bursts of five messages, however they are sent", async () => {
    const room = roomOf(site, await newRoom());
    const send = (n: number) =>
      room.send({ accountId: ann.id, requestId: `r${n}`, text: `Message ${n}`, replyTo: null, language: null, fresh: false });
    const results = await atTime(Date.now(), () => Promise.all(Array.from({ length: 50 }, (_, n) => send(n))));
    expect(results.filter(({ ok }) => ok)).toHaveLength(5);
    expect(results.filter((result) => !result.ok && result.code === "rate_limited" && result.retryAfter === 1)).toHaveLength(45);
  });

  test("resumes with exactly what was missed: new messages, removals and reactions", async () => {
    const channel = await newRoom();
    const a = await enterChat(site, channel, ann);
    const [kept, removed] = [await a.says("One"), await a.says("Two")];
    const b = await enterChat(site, channel, ben);
    const { position } = b;
    b.viewer.close();
    await roomOf(site, channel).remove(removed);
    await a.react(kept, "👍");
    const third = await a.says("Three");
    const back = await enterChat(site, channel, ben, position);
    expect(back.history.recovered).toBe(true);
    expect(back.history.messages.map(({ _id }) => _id)).toEqual([third]);
    expect(new Map(back.history.updates.map((message) => [message._id, message.state]))).toEqual(
      new Map([
        [removed, "removed"],
        [kept, "visible"],
      ]),
    );
    expect(back.history.updates.find(({ _id }) => _id === removed)?.text).toBeNull();
    expect(back.history.updates.find(({ _id }) => _id === kept)).toMatchObject({ reactions: { "👍": 1 }, reacted: null });
  });

  test("starts a viewer over whose position is unknown", async () => {
    const channel = await newRoom();
    const a = await enterChat(site, channel, ann);
    await a.says("One");
    const back = await enterChat(site, channel, ben, { after: 999, revision: 0 });
    expect(back.history).toMatchObject({ recovered: false, chatSeq: 1 });
    expect(back.history.messages).toHaveLength(1);
  });

  test("goes on after an eviction and a crash, with what it has stored and whom it serves", async () => {
    const channel = await newRoom();
    const [a, b] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben)];
    const first = await a.says("Before");
    await b.sees(first);
    await evict(roomOf(site, channel));
    const second = await a.says("After the eviction");
    await b.sees(second);
    expect([...b.screen.values()].map(({ chatSeq }) => chatSeq)).toEqual([1, 2]);
    await abortAllDurableObjects();
    const back = await enterChat(site, channel, ben, b.position);
    expect(back.history).toMatchObject({ recovered: true, messages: [] });
    const c = await enterChat(site, channel, ann);
    expect(c.history.messages.map(({ _id }) => _id)).toEqual([first, second]);
    const third = await c.says("After the crash");
    expect(await back.sees(third)).toMatchObject({ chatSeq: 3 });
  });

  test("removes a message from all open screens and from history", async () => {
    const channel = await newRoom();
    const [a, b, m] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben), await enterChat(site, channel, moderator)];
    const id = await a.says("Regrettable");
    await Promise.all([b.sees(id), m.sees(id)]);
    await roomOf(site, channel).remove(id);
    await Promise.all([a.sees(id, isGone), b.sees(id, isGone), m.sees(id, (message) => message?.state === "removed")]);
    expect(m.screen.get(id)).toMatchObject({ text: "Regrettable", original: "Regrettable" });
    expect((await enterChat(site, channel, ben)).history.messages).toEqual([]);
    expect(b.viewer.frames.some((frame) => frame.type === "chat.updated" && frame.messages.some(({ text }) => text !== null))).toBe(false);
  });

  test("counts reactions by account, one each", async () => {
    const channel = await newRoom();
    const [a, b] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben)];
    const id = await a.says("Goal!");
    await b.sees(id);
    expect(await a.react(id, "🎉")).toMatchObject({ ok: true });
    expect(await b.react(id, "👍")).toMatchObject({ ok: true });
    expect(await b.react(id, "🎉")).toMatchObject({ ok: true });
    await a.sees(id, (message) => message?.reactions["🎉"] === 2);
    expect(a.screen.get(id)?.reactions).toEqual({ "🎉": 2 });
    await b.react(id, null);
    await a.sees(id, (message) => message?.reactions["🎉"] === 1);
    expect(await a.react(id, "🧨")).toMatchObject({ ok: false, code: "invalid_request" });
    expect(await a.react(newId(1), "👍")).toMatchObject({ ok: false, code: "not_found" });
  });

  test("erases an account: messages, reactions and mentions of its name end everywhere", async () => {
    const channel = await newRoom();
    const zoe = await site.addAccount("Zoe", []);
    const [a, z] = [await enterChat(site, channel, ann), await enterChat(site, channel, zoe)];
    const [own, other] = [await z.says("My secret"), await a.says("Hello @zoe")];
    expect(await z.sees(other)).toMatchObject({ mentions: [zoe.id] });
    await z.react(other, "👍");
    await a.sees(other, (message) => message?.reactions["👍"] === 1);
    await roomOf(site, channel).erase(zoe.id);
    await Promise.all([a.sees(own, isGone), a.sees(other, (message) => message?.reactions["👍"] === undefined)]);
    const page = await roomOf(site, channel).messages({ accountId: null, moderator: true }, 10, undefined);
    expect(JSON.stringify(page?.messages.find(({ id }) => id === own))).not.toMatch(/secret|Zoe/);
  });

  test("gives a busy room's viewer the latest messages, own ones and a count of the rest", async () => {
    const channel = await newRoom();
    const b = await enterChat(site, channel, ben);
    const crowd = await Promise.all(Array.from({ length: 60 }, (_, index) => site.addAccount(`fan${index}`, [])));
    const room = roomOf(site, channel);
    const send = (accountId: string) =>
      room.send({ accountId, requestId: newId(Date.now()), text: "Goal!", replyTo: null, language: null, fresh: false });
    await Promise.all(crowd.map(({ id }) => send(id)));
    const own = await b.says("Me too");
    await b.sees(own);
    await b.viewer.when(() => b.position.after === 61);
    let reached = 0;
    for (const { messages, skipped, chatSeq } of b.of("chat.messages")) {
      const numbered = messages.filter((message) => message.chatSeq !== null);
      expect(reached + numbered.length + skipped).toBe(chatSeq);
      reached = chatSeq;
    }
    expect(reached).toBe(61);
  });
});
