import { describe, expect, test } from "vitest";
import { MAX_MESSAGES } from "#sdk/chat/chat.ts";
import { ChatWorld, joined, ME, message, messages, OTHER, SETTINGS, settled } from "./chat-room.ts";

describe("joining", () => {
  test("requests the history, and shows it", async () => {
    const world = await joined(messages(5, 7));
    expect(world.sent).toEqual([{ type: "chat.join", language: "en" }]);
    expect(world.shown).toEqual([5, 6, 7]);
    expect(world.state).toMatchObject({ status: "live", settings: SETTINGS, hasOlder: true, accountId: ME });
  });

  test("resumes after a reconnection, and receives what was missed and what changed", async () => {
    const world = await joined(messages(1, 3), { revision: 4 });
    await world.reconnect();
    expect(world.lastSent).toEqual({ type: "chat.join", after: 3, revision: 4, language: "en" });
    const updates = [message(2, { state: "removed", text: null })];
    world.history(messages(4, 5), { recovered: true, updates, revision: 9 });
    expect(world.shown).toEqual([1, 3, 4, 5]);
    await world.reconnect();
    expect(world.lastSent).toMatchObject({ after: 5, revision: 9 });
  });

  test("starts over after a long interruption", async () => {
    const world = await joined(messages(1, 3));
    await world.reconnect();
    world.history(messages(400, 402));
    expect(world.shown).toEqual([400, 401, 402]);
  });

  test("shows another viewer nothing that the previous one had written", async () => {
    const world = await joined(messages(1, 3));
    world.chat.send("On its way");
    world.account = OTHER;
    await world.reconnect();
    expect(world.lastSent).toEqual({ type: "chat.join", language: "en" });
    world.history(messages(1, 3));
    expect(world.shown).toEqual([1, 2, 3]);
  });

  test("leaves when it is no longer shown", async () => {
    const world = await joined();
    world.chat.leave();
    expect(world.lastSent).toEqual({ type: "chat.leave" });
  });
});

describe("messages of a room", () => {
  test("are shown in order, with a line for those that were skipped", async () => {
    const world = await joined(messages(1, 2));
    world.batch([message(5), message(3)], 9, 5);
    expect(world.shown).toEqual([1, 2, 3, 5, "+5"]);
  });

  test("are shown once if a frame arrives twice", async () => {
    const world = await joined(messages(1, 2));
    for (let round = 0; round < 2; round++) world.batch([message(3), message(5)], 6, 2);
    expect(world.shown).toEqual([1, 2, 3, 5, "+2"]);
  });

  test("that are held follow the message before them until they are approved", async () => {
    const world = await joined(messages(1, 2));
    const held = message(null, { _id: "h", state: "held" });
    world.batch([held], 2);
    world.batch([message(3)], 3);
    expect(world.shown).toEqual([1, 2, "h", 3]);
    world.batch([message(4, { _id: "h" })], 4);
    expect(world.shown).toEqual([1, 2, 3, 4]);
  });

  test("disappear when they are removed, and stay for moderators, who receive their text", async () => {
    const world = await joined(messages(1, 3));
    world.receive({
      type: "chat.updated",
      revision: 1,
      messages: [message(1, { state: "removed", text: null }), message(3, { state: "removed" }), message(77)],
    });
    expect(world.shown).toEqual([2, 3]);
  });

  test("keep the viewer's own reaction when an update for everybody leaves it out", async () => {
    const world = await joined([message(1, { reacted: "👍", reactions: { "👍": 1 } })]);
    const update = message(1, { reactions: { "👍": 7 } });
    delete update.reacted;
    world.receive({ type: "chat.updated", revision: 1, messages: [update] });
    expect(world.state.items[0]).toMatchObject({ message: { reacted: "👍", reactions: { "👍": 7 } } });
  });

  test("are bounded: the oldest ones go, and load again on request", async () => {
    const world = await joined(messages(1, 100));
    for (let from = 101; from < 900; from += 20) world.batch(messages(from, from + 19), from + 19);
    const { length } = world.state.items;
    expect(length).toBeLessThanOrEqual(MAX_MESSAGES);
    expect(world.shown).toEqual(messages(901 - length, 900).map(({ chatSeq }) => chatSeq));
    world.older = (before) => ({ results: messages(before - 100, before - 1).reverse(), before: before - 100 });
    await world.chat.loadOlder();
    await world.chat.loadOlder();
    expect(world.pages).toEqual([901 - length, 801 - length]);
    expect(world.shown).toEqual(messages(701 - length, 700 - length + MAX_MESSAGES).map(({ chatSeq }) => chatSeq));
    expect(world.state).toMatchObject({ hasOlder: true, atLatest: false });
  });

  test("that arrive while the viewer reads older ones are counted, and move nothing once the list is full", async () => {
    const world = await joined(messages(1, 100));
    for (let from = 101; from < 500; from += 20) world.batch(messages(from, from + 19), from + 19);
    world.chat.setFollowing(false);
    world.batch(messages(501, 510), 520, 10);
    expect(world.state).toMatchObject({ unread: 20, atLatest: false });
    expect(world.shown).toEqual(messages(1, 500).map(({ chatSeq }) => chatSeq));
    world.chat.showLatest();
    await settled();
    expect(world.lastSent).toEqual({ type: "chat.join", language: "en" });
    world.history(messages(451, 520));
    expect(world.state).toMatchObject({ unread: 0, atLatest: true });
    expect(world.shown.at(-1)).toBe(520);
  });
});

describe("a message of the viewer", () => {
  test("appears at once, and is replaced by the room's", async () => {
    const world = await joined(messages(1, 2));
    world.chat.send("What a save!", "m1");
    expect(world.lastSent).toEqual({ type: "chat.send", id: world.sentId(), text: "What a save!", replyTo: "m1" });
    expect(world.shown).toEqual([1, 2, "What a save!"]);
    world.result({ messageId: "m3", state: "visible" });
    expect(world.shown).toEqual([1, 2, "What a save!"]);
    world.batch([message(3, { accountId: ME })], 3);
    expect(world.shown).toEqual([1, 2, 3]);
  });

  test("isn't shown twice if it arrives before its verdict", async () => {
    const world = await joined(messages(1, 2));
    world.chat.send("What a save!");
    world.batch([message(3, { accountId: ME })], 3);
    expect(world.shown).toEqual([1, 2, 3]);
    world.result({ messageId: "m3", state: "visible" });
    expect(world.shown).toEqual([1, 2, 3]);
  });

  test("stays if what arrived was sent by the same account elsewhere", async () => {
    const world = await joined(messages(1, 2));
    world.chat.send("From this tab");
    world.batch([message(3, { accountId: ME })], 3);
    world.result({ messageId: "m4", state: "visible" });
    expect(world.shown).toEqual([1, 2, 3, "From this tab"]);
    world.batch([message(4, { accountId: ME })], 4);
    expect(world.shown).toEqual([1, 2, 3, 4]);
  });

  test("is sent again with the same id after a reconnection, until the server has responded", async () => {
    const world = await joined();
    world.connected = false;
    world.chat.send("Through the tunnel");
    expect(world.sent).toHaveLength(1);
    await world.reconnect();
    await world.reconnect();
    const sends = world.sent.filter(({ type }) => type === "chat.send");
    expect(sends).toHaveLength(2);
    expect(sends[0]).toEqual(sends[1]);
    world.result({ messageId: "m1" });
    await world.reconnect();
    expect(world.sent.filter(({ type }) => type === "chat.send")).toHaveLength(2);
  });

  test("says in plain words why it was rejected, and is sent again with its id, which the server doesn't remember", async () => {
    const world = await joined();
    world.chat.send("Again and again");
    const id = world.sentId();
    world.result({ ok: false, code: "chat_slow_mode", message: "x", retryAfter: 7 });
    expect(world.state.items).toMatchObject([{ rejection: { message: "Slow mode is on. Try again in 7 seconds." } }]);
    expect(world.state.sendableAt).toBe(world.now + 7000);
    world.chat.retry(id);
    expect(world.sent.filter(({ type }) => type === "chat.send")).toHaveLength(2);
    expect(world.sentId()).toBe(id);
    expect(world.shown).toEqual(["Again and again"]);
    world.result({ ok: false, code: "invalid_request", message: "The text is too long" });
    expect(world.state.items).toMatchObject([{ rejection: { message: "The text is too long" } }]);
    world.chat.discard(world.sentId());
    expect(world.shown).toEqual([]);
  });

  test("starts the countdown of slow mode, except for moderators", async () => {
    for (const moderator of [false, true]) {
      const world = await joined([], { settings: { ...SETTINGS, slowSeconds: 10, moderator } });
      world.chat.send("Slowly");
      world.result({ messageId: "m1" });
      expect(world.state.sendableAt).toBe(moderator ? 0 : world.now + 10_000);
    }
  });

  test("that was accepted and removed before it arrived goes after a while", async () => {
    const world = await joined(messages(1, 2));
    world.chat.send("Removed at once");
    world.result({ messageId: "gone" });
    world.now += 11_000;
    world.batch([message(3)], 3);
    expect(world.shown).toEqual([1, 2, 3]);
  });
});

describe("a reaction", () => {
  test("counts at once, and is withdrawn if the server rejects it", async () => {
    const world = await joined([message(1, { reactions: { "👍": 2 } })]);
    world.chat.react("m1", "👍");
    expect(world.state.items[0]).toMatchObject({ message: { reactions: { "👍": 3 }, reacted: "👍" } });
    world.chat.react("m1", "❤️");
    expect(world.state.items[0]).toMatchObject({ message: { reactions: { "👍": 2, "❤️": 1 }, reacted: "❤️" } });
    world.result({ ok: false, code: "chat_paused" });
    expect(world.state.items[0]).toMatchObject({ message: { reactions: { "👍": 3 }, reacted: "👍" } });
  });

  test("is sent again after a reconnection", async () => {
    const world = await joined(messages(1, 1));
    world.connected = false;
    world.chat.react("m1", "👍");
    await world.reconnect();
    expect(world.lastSent).toMatchObject({ type: "chat.react", messageId: "m1", emoji: "👍" });
  });
});

test("nothing is shown, and nothing is lost, before the first history", async () => {
  const world = new ChatWorld();
  await settled();
  world.batch(messages(1, 3), 3);
  expect(world.shown).toEqual([]);
  world.history(messages(1, 3));
  expect(world.shown).toEqual([1, 2, 3]);
});
