import { beforeAll, describe, expect, test } from "vitest";
import { ChatBan, ChatMessage, ChatMessagePage } from "#worker/services/chat/schemas.ts";
import type { TestAccount, TestSite } from "../harness.ts";
import { type ChatSite, type Chatter, enterChat, newChatSite, roomOf } from "./chatters.ts";
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

describe("A message of the site itself", () => {
  test("is sent by a developer key or a moderator, under the site's name, to everybody in the room", async () => {
    const channelId = await newRoom();
    const [a, anonymous] = [await enterChat(site, channelId, ann), await enterChat(site, channelId)];
    const byKey = await site.call("sendChatMessage", {
      as: "developer",
      params: { channelId },
      body: { text: "Kick-off in five minutes" },
    });
    expect([byKey.status, byKey.as(ChatMessage)]).toMatchObject([
      201,
      { system: true, accountId: null, name: "Harbour City FC", roles: [] },
    ]);
    const body = { text: "Be kind", system: true };
    const byModerator = (await as(moderator, "sendChatMessage", { params: { channelId }, body })).as(ChatMessage);
    expect(byModerator).toMatchObject({ system: true, accountId: null, chatSeq: 2 });
    for (const viewer of [a, anonymous]) expect(await viewer.sees(byModerator._id)).toMatchObject({ text: "Be kind", system: true });
    // Only the export says who wrote it.
    expect((await site.call("exportChat", { params: { channelId } })).text).toContain(moderator.id);
  });

  test("can't be sent by a viewer, a moderator of another channel, or a key that may not write", async () => {
    const [channelId, elsewhere] = [await newRoom(), await newRoom()];
    const local = await site.addAccount("Elsewhere", [{ scope: "Chat_Moderator", pageId: [elsewhere], write: true }]);
    const reader = await site.addAccount("Reading", [{ scope: "Chat_Moderator", pageId: [], write: false }]);
    const body = { text: "I am the site", system: true };
    for (const account of [ann, local, reader])
      expect((await as(account, "sendChatMessage", { params: { channelId }, body })).status).toBe(403);
    const headers = { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": await site.addKey(["chat:read"]) };
    expect((await site.call("sendChatMessage", { as: "nobody", headers, params: { channelId }, body })).status).toBe(403);
    const page = (await site.call("listChatMessages", { as: "client", params: { channelId } })).as(ChatMessagePage);
    expect(page.results).toEqual([]);
  });

  test("passes a paused room, has its words masked, and survives its author's account", async () => {
    const channelId = await newRoom();
    const host = await site.addAccount("Host", [{ scope: "Chat_Moderator", pageId: [], write: true }]);
    await setSettings(channelId, { mode: "paused" });
    const sent = (await as(host, "sendChatMessage", { params: { channelId }, body: { text: "Half-time", system: true } })).as(ChatMessage);
    await roomOf(site, channelId).erase(host.id);
    const page = (await site.call("listChatMessages", { as: "client", params: { channelId } })).as(ChatMessagePage);
    expect(page.results).toMatchObject([{ _id: sent._id, text: "Half-time", state: "visible" }]);
    expect((await site.call("exportChat", { params: { channelId } })).text).not.toContain(host.id);
  });

  test("is stored once for one Idempotency-Key", async () => {
    const channelId = await newRoom();
    const headers = { "Idempotency-Key": "announcement-1" };
    const send = () => site.call("sendChatMessage", { as: "developer", params: { channelId }, body: { text: "Once" }, headers });
    const [first, second] = [(await send()).as(ChatMessage), (await send()).as(ChatMessage)];
    expect(second._id).toBe(first._id);
    const request = { accountId: null, requestId: "r1", text: "Twice?", replyTo: null, language: null };
    const room = roomOf(site, channelId);
    const outcomes = await Promise.all([room.announce(request), room.announce(request)]);
    expect(new Set(outcomes.map((outcome) => (outcome.ok ? outcome.messageId : outcome.code))).size).toBe(1);
  });
});

describe("The ban of a device", () => {
  const deviceId = "tablet-17";
  const ban = (channelId: string | null, more: Record<string, unknown> = {}) =>
    as(moderator, "banFromChat", { body: { deviceId, kind: "ban", channelId, ...more } });

  test("ends what it reads and sends, whoever uses it, and nothing of others", async () => {
    const channelId = await newRoom();
    const anonymous = await enterChat(site, channelId, null, { deviceId });
    const [a, b] = [await enterChat(site, channelId, ann, { deviceId }), await enterChat(site, channelId, ben, { deviceId: "other" })];
    const made = await ban(channelId);
    expect([made.status, made.as(ChatBan)]).toMatchObject([201, { accountId: null, deviceId }]);
    const isShutOut = (viewer: Chatter) => viewer.viewer.when((frame) => frame.type === "chat.history" && frame.settings.banned !== null);
    for (const viewer of [anonymous, a]) await isShutOut(viewer);
    expect(await a.say("Still here")).toMatchObject({ ok: false, code: "chat_banned" });
    const id = await b.says("Quiet now");
    await b.sees(id);
    expect([anonymous.screen.has(id), a.screen.has(id)]).toEqual([false, false]);
    expect(await a.react(id, "👍")).toMatchObject({ code: "chat_banned" });
    const back = await enterChat(site, channelId, null, { deviceId });
    expect(back.history).toMatchObject({ messages: [], settings: { banned: { until: null } } });
    const next = await b.says("And still");
    await b.sees(next);
    // The connection and its other frames stay.
    expect([back.screen.has(next), back.viewer.open]).toEqual([false, true]);
    expect((await as(moderator, "liftChatBan", { params: { id: made.as(ChatBan)._id } })).status).toBe(204);
    expect((await enterChat(site, channelId, null, { deviceId })).history.messages).toHaveLength(2);
  });

  test("doesn't stop moderators, and ends on time", async () => {
    const channelId = await newRoom();
    await ban(channelId);
    const m = await enterChat(site, channelId, moderator, { deviceId });
    await m.says("I moderate from here");
    expect((await ban(channelId, { until: Date.now() + 60_000 })).status).toBe(200);
    await siteStore
      .prepare("UPDATE chat_bans SET until = ? WHERE device_id = ?")
      .bind(Date.now() - 1, deviceId)
      .run();
    await roomOf(site, channelId).refresh();
    expect((await enterChat(site, channelId, null, { deviceId })).history.settings.banned).toBeNull();
  });

  test("needs either an account or a device, and mutes only accounts", async () => {
    expect((await ban(null, { accountId: ann.id })).fields).toEqual(["accountId"]);
    expect((await as(moderator, "banFromChat", { body: { kind: "ban" } })).fields).toEqual(["accountId"]);
    expect((await ban(null, { kind: "mute" })).fields).toEqual(["kind"]);
  });
});
