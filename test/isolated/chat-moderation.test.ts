import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { ChatBan, ChatQueue } from "#worker/services/chat/schemas.ts";
import { addSkus } from "../files-and-skus.ts";
import type { TestAccount, TestSite } from "../harness.ts";
import { type ChatSite, connectChatter, enterChat, isGone, newChatSite, roomOf } from "./chatters.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;
let ann: TestAccount;
let ben: TestAccount;
let moderator: TestAccount;
let newRoom: ChatSite["newRoom"];
let as: ChatSite["as"];
let setSettings: ChatSite["setSettings"];

beforeAll(async () => {
  ({ site, ann, ben, moderator, newRoom, as, setSettings } = await newChatSite());
});

const ban = async (channelId: string | null, account: TestAccount, more: Record<string, unknown> = {}) =>
  as(moderator, "banFromChat", { body: { accountId: account.id, kind: "ban", channelId, ...more } });

/** A chat panel on the channel. */
async function addPanel(channelId: string, fields: Record<string, unknown>): Promise<string> {
  const renderer = { panel_type: "chat", panel_name: "Chat", ...fields };
  const { _id } = (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Panel);
  await siteStore
    .prepare("UPDATE pages SET data = json_set(data, '$.sidebar', json(?)) WHERE id = ?")
    .bind(JSON.stringify({ panels: [_id] }), channelId)
    .run();
  return _id;
}

describe("A ban", () => {
  test("reaches open sockets, ends sending everywhere, and can be lifted", async () => {
    const channel = await newRoom();
    const [a, b] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben)];
    const { _id } = (await ban(channel, ann, { reason: "Spam" })).as(ChatBan);
    await a.viewer.when((frame) => frame.type === "chat.settings" && frame.settings.banned?.reason === "Spam");
    expect(await a.say("Still here")).toMatchObject({ ok: false, code: "chat_banned" });
    expect(await as(ann, "sendChatMessage", { params: { channelId: channel }, body: { text: "By REST" } })).toMatchObject({ status: 403 });
    expect(b.of("chat.settings")).toEqual([]);
    expect((await enterChat(site, channel, ann)).history.settings.banned).toEqual({ until: null, reason: "Spam" });
    expect((await as(moderator, "liftChatBan", { params: { id: _id } })).status).toBe(204);
    expect(await a.say("Thanks")).toMatchObject({ ok: true });
  });

  test("on the whole site applies in every room, and a second one replaces the first", async () => {
    const rooms = [await newRoom(), await newRoom()];
    const chatters = await Promise.all(rooms.map((channel) => enterChat(site, channel, ben)));
    const first = await ban(null, ben);
    expect(first.status).toBe(201);
    for (const chatter of chatters) expect(await chatter.say("Hi")).toMatchObject({ code: "chat_banned" });
    const second = await ban(null, ben, { until: Date.now() + 60_000, reason: "Calm down" });
    expect(second.status).toBe(200);
    expect(second.as(ChatBan)._id).toBe(first.as(ChatBan)._id);
    await as(moderator, "liftChatBan", { params: { id: first.as(ChatBan)._id } });
  });

  test("in the same instant as messages leaves none accepted after it", async () => {
    const channel = await newRoom();
    const zed = await site.addAccount("Zed", []);
    const room = roomOf(site, channel);
    const send = (n: number) =>
      room.send({ accountId: zed.id, requestId: `r${n}`, text: `n${n}`, replyTo: null, language: null, fresh: false });
    const [before, banned] = await Promise.all([send(1), ban(channel, zed)]);
    expect(banned.status).toBe(201);
    expect(await send(2)).toMatchObject({ ok: false, code: "chat_banned" });
    // What was accepted before the ban stays, and a repeat still gets its result.
    expect(JSON.stringify(await send(1))).toBe(JSON.stringify(before));
  });

  test("needs a moderator of the place, and only site admins ban staff", async () => {
    const [here, there] = [await newRoom(), await newRoom()];
    const local = await site.addAccount("Local", [{ scope: "Chat_Moderator", pageId: [here], write: true }]);
    const body = { accountId: ann.id, kind: "ban" };
    expect((await as(local, "banFromChat", { body: { ...body, channelId: there } })).status).toBe(403);
    expect((await as(local, "banFromChat", { body })).status).toBe(403);
    expect((await as(ann, "banFromChat", { body: { ...body, channelId: here } })).status).toBe(403);
    expect((await as(local, "banFromChat", { body: { ...body, accountId: moderator.id, channelId: here } })).status).toBe(403);
    expect((await as(local, "banFromChat", { body: { ...body, accountId: newId(1), channelId: here } })).status).toBe(400);
    const made = await as(local, "banFromChat", { body: { ...body, channelId: here } });
    expect(made.status).toBe(201);
    await as(local, "liftChatBan", { params: { id: made.as(ChatBan)._id } });
  });
});

test("a mute hides messages from everybody but their sender and moderators, and isn't told", async () => {
  const channel = await newRoom();
  const noisy = await site.addAccount("Noisy", []);
  const [n, b, m] = [await enterChat(site, channel, noisy), await enterChat(site, channel, ben), await enterChat(site, channel, moderator)];
  await ban(channel, noisy, { kind: "mute" });
  const id = await n.says("Can you hear me?");
  expect(await n.sees(id)).not.toHaveProperty("muted");
  expect(await m.sees(id)).toMatchObject({ muted: true });
  expect(n.of("chat.settings").every(({ settings }) => settings.banned === null)).toBe(true);
  const next = await m.says("A sign of life");
  await b.sees(next);
  expect(b.screen.has(id)).toBe(false);
  expect((await enterChat(site, channel)).history.messages.map(({ _id }) => _id)).toEqual([next]);
});

test("held messages wait in the queue, and an approved one appears at the end of the chat", async () => {
  const channel = await newRoom();
  expect((await setSettings(channel, { premoderate: true })).status).toBe(200);
  const [a, b, m] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben), await enterChat(site, channel, moderator)];
  const [held, rejected] = [await a.says("First"), await a.says("Second")];
  const own = await m.says("Moderators aren't held");
  await b.sees(own);
  expect([b.screen.has(held), (await a.sees(held))?.state, (await m.sees(held))?.state]).toEqual([false, "held", "held"]);
  await expect
    .poll(async () => {
      const queue = (await as(moderator, "listChatQueue", { query: { channelIds: channel } })).as(ChatQueue);
      return queue.results.map(({ _id }) => _id);
    })
    .toEqual([held, rejected]);
  const decide = (id: string, decision: string) =>
    as(moderator, "decideChatMessage", { params: { channelId: channel, id }, body: { decision } });
  expect((await decide(held, "approve")).status).toBe(200);
  expect(await b.sees(held)).toMatchObject({ chatSeq: 2, state: "visible" });
  expect((await decide(rejected, "reject")).status).toBe(200);
  expect((await decide(rejected, "approve")).status).toBe(409);
  await a.sees(rejected, isGone);
  await expect
    .poll(async () => (await as(moderator, "listChatQueue", { query: { channelIds: channel } })).as(ChatQueue).results)
    .toEqual([]);
});

test("a report puts a message into the queue once per account, and a decision settles it", async () => {
  const channel = await newRoom();
  const [a, b] = [await enterChat(site, channel, ann), await enterChat(site, channel, ben)];
  const id = await a.says("Rude");
  const report = (account: TestAccount) =>
    as(account, "reportChatMessage", { params: { channelId: channel, id }, body: { reason: "Insult" } });
  expect([(await report(ben)).status, (await report(ben)).status, (await report(moderator)).status]).toEqual([201, 200, 201]);
  await expect
    .poll(async () => (await as(moderator, "listChatQueue", { query: { channelIds: channel } })).as(ChatQueue).results[0]?.reports.length)
    .toBe(2);
  await as(moderator, "decideChatMessage", { params: { channelId: channel, id }, body: { decision: "reject" } });
  await b.sees(id, isGone);
  expect(await roomOf(site, channel).queued([id])).toEqual([]);
});

test("modes and slow mode hold for viewers, not for moderators, and their change reaches open sockets", async () => {
  const channel = await newRoom();
  await addSkus(site, "season-pass");
  const [a, m] = [await enterChat(site, channel, ann), await enterChat(site, channel, moderator)];
  await setSettings(channel, { mode: "paused" });
  await a.viewer.when((frame) => frame.type === "chat.settings" && frame.settings.mode === "paused");
  expect([await a.say("Now?"), await m.say("Soon")]).toMatchObject([{ code: "chat_paused" }, { ok: true }]);
  await setSettings(channel, { mode: "members", skus: ["season-pass"] });
  expect([await a.say("Now?"), await m.say("Members")]).toMatchObject([{ code: "chat_members_only" }, { ok: true }]);
  await setSettings(channel, { slowSeconds: 60 });
  expect([await m.say("Slowly"), await m.say("please")]).toMatchObject([{ ok: true }, { ok: true }]);
  const b = await enterChat(site, channel, ben);
  expect(await b.say("One")).toMatchObject({ ok: true });
  expect(await b.say("Two")).toMatchObject({ ok: false, code: "chat_slow_mode" });
});

test("a moderator who loses the role in mid-session stops seeing what moderators see", async () => {
  const channel = await newRoom();
  const former = await site.addAccount("Former", [{ scope: "Chat_Moderator", pageId: [], write: true }]);
  const f = await enterChat(site, channel, former);
  expect(f.history.settings.moderator).toBe(true);
  const changed = await site.call("setRoles", { params: { id: former.id }, body: { roles: [] } });
  expect(changed.status, changed.text).toBe(200);
  await f.viewer.when((frame) => frame.type === "chat.settings" && !frame.settings.moderator);
  await setSettings(channel, { premoderate: true });
  const a = await enterChat(site, channel, ann);
  const id = await a.says("Held");
  const m = await enterChat(site, channel, moderator);
  const shown = await m.says("Shown");
  await f.sees(shown);
  expect(f.screen.has(id)).toBe(false);
  expect(await f.say("Held as well")).toMatchObject({ ok: true, state: "held" });
});

test("the panel's filtered words and links are masked for viewers; moderators see the original", async () => {
  const channel = await newRoom();
  const panel = await addPanel(channel, { filtered_words: "offside", system_name: "Announcer", system_welcome_message: "Welcome!" });
  const liar = await site.addAccount("Аnnouncer", []);
  const [l, m] = [await enterChat(site, channel, liar), await enterChat(site, channel, moderator)];
  expect(l.history.settings.system).toEqual({ name: "Announcer", image: null, welcomeMessage: "Welcome!" });
  const id = await l.says("o\u200bff\u200bside! see evil . com");
  expect(await l.sees(id)).toMatchObject({ text: "*******! see [link]", name: `Viewer ${liar.id.slice(-6)}` });
  expect(await m.sees(id)).toMatchObject({ original: "o\u200bff\u200bside! see evil . com" });
  await site.call("patchPanel", { params: { id: panel }, body: { renderer: { filtered_words: "", allow_non_admin_links: true } } });
  const sayAgain = async () => {
    // Undefined while the account has sent too much.
    const { messageId } = await l.say("offside, see evil.com");
    return messageId === undefined ? undefined : (await l.sees(messageId))?.text;
  };
  await expect.poll(sayAgain).toBe("offside, see evil.com");
});

test("deleting the channel or the account empties the room", async () => {
  const channel = await newRoom();
  const gone = await site.addAccount("Gone", []);
  const [g, b] = [await enterChat(site, channel, gone), await enterChat(site, channel, ben)];
  const [own, other] = [await g.says("Mine"), await b.says("Yours")];
  await b.sees(own);
  expect((await site.call("deleteAccount", { params: { id: gone.id } })).status).toBe(200);
  await b.sees(own, isGone);
  expect(b.screen.has(other)).toBe(true);
  expect((await site.call("deletePage", { params: { id: channel } })).status).toBe(200);
  await expect.poll(async () => (await roomOf(site, channel).exported(0, 10)).length).toBe(0);
  expect(await roomOf(site, channel).settings()).toBeNull();
});

test("a pinned message is part of the settings until it is removed", async () => {
  const channel = await newRoom();
  const a = await enterChat(site, channel, ann);
  const id = await a.says("Kick-off at eight");
  await setSettings(channel, { pinnedMessageId: id });
  await a.viewer.when((frame) => frame.type === "chat.settings" && frame.settings.pinned?._id === id);
  expect((await setSettings(channel, { pinnedMessageId: newId(1) })).fields).toEqual(["pinnedMessageId"]);
  expect((await as(ann, "deleteChatMessage", { params: { channelId: channel, id } })).status).toBe(204);
  await a.viewer.when(() => a.of("chat.settings").at(-1)?.settings.pinned === null);
  // Somebody who hasn't seen the removal pauses the room.
  expect((await setSettings(channel, { pinnedMessageId: id, mode: "paused" })).status).toBe(200);
  await a.viewer.when(() => a.of("chat.settings").at(-1)?.settings.mode === "paused");
  expect(a.of("chat.settings").at(-1)?.settings.pinned).toBeNull();
});

test("a viewer who doesn't join can send, and receives nothing but the result", async () => {
  const channel = await newRoom();
  const a = await connectChatter(site, channel, ann);
  expect(await a.say("Out of the dark")).toMatchObject({ ok: true, state: "visible" });
  expect(a.of("chat.messages")).toEqual([]);
});
