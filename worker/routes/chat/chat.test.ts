import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { newId } from "#worker/lib/ids.ts";
import { allOf, ctxOf } from "#test/callers.ts";
import { exportRoom } from "#worker/services/chat/export.ts";
import { ChatBan, ChatMessage, ChatMessagePage, ChatQueue, ChatSettings } from "#worker/services/chat/schemas.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;
let channelId: string;

beforeAll(async () => {
  site = await newSite();
  channelId = await site.addChannel("chat");
});

const send = async (text: string) =>
  (await site.call("sendChatMessage", { as: "viewer", params: { channelId }, body: { text } })).as(ChatMessage);

describe("The chat's operations", () => {
  test("send, list, react to, report, decide on and remove messages", async () => {
    const { _id } = await send("=1+1");
    const reacted = await site.call("reactToChatMessage", { as: "viewer", params: { channelId, id: _id }, body: { emoji: "👍" } });
    expect(reacted.as(ChatMessage)).toMatchObject({ reactions: { "👍": 1 }, reacted: "👍" });
    const anonymous = await site.call("listChatMessages", { as: "client", params: { channelId } });
    expect(anonymous.as(ChatMessagePage)).toMatchObject({ results: [{ _id, chatSeq: 1, text: "=1+1", reacted: null }], before: null });
    const body = { reason: "A formula" };
    expect((await site.call("reportChatMessage", { as: "viewer", params: { channelId, id: _id }, body })).status).toBe(201);
    await expect.poll(async () => (await site.call("listChatQueue")).as(ChatQueue).results.map((entry) => entry._id)).toEqual([_id]);
    const approve = { params: { channelId, id: _id }, body: { decision: "approve" } };
    expect((await site.call("decideChatMessage", approve)).as(ChatMessage).state).toBe("visible");
    const csv = await site.call("exportChat", { params: { channelId } });
    expect(csv.headers.get("Content-Type")).toContain("text/csv");
    expect((await site.call("deleteChatMessage", { params: { channelId, id: _id } })).status).toBe(204);
    expect((await site.call("listChatMessages", { as: "client", params: { channelId } })).as(ChatMessagePage).results).toEqual([]);
  });

  test("end an export when its reader loses the role", async () => {
    const room = await site.addChannel("long");
    for (let n = 0; n < 3; n++) await site.call("sendChatMessage", { params: { channelId: room }, body: { text: `Message ${n}` } });
    await runInDurableObject(env.CHAT_ROOM.getByName(`${site.id}:${room}`), (_, { storage }) => {
      const columns = storage.sql.exec("SELECT * FROM messages LIMIT 1").columnNames.filter((name) => name !== "stored");
      const copied = columns.map((name) => (name === "id" ? "id || '-' || number" : name === "chat_seq" ? "10 + number" : name));
      const numbers = JSON.stringify(Array.from({ length: 600 }, (_each, n) => n));
      const select = `SELECT ${copied.join(", ")} FROM (SELECT * FROM messages LIMIT 1), (SELECT value AS number FROM json_each(?))`;
      storage.sql.exec(`INSERT INTO messages (${columns.join(", ")}) ${select}`, numbers);
    });
    const moderator = await site.addAccount("moderator", [{ scope: "Chat_Moderator", pageId: [room], write: true }]);
    const whole = await allOf(await exportRoom(ctxOf(site.id, moderator), room, "jsonl"));
    expect(whole.map((page) => page.split("\n").length - 1)).toEqual([500, 103]);
    const pages = await exportRoom(ctxOf(site.id, moderator), room, "jsonl");
    await pages.next();
    await db.update(accounts).set({ roles: [] }).where(eq(accounts.id, moderator.id));
    await expect(pages.next()).rejects.toThrow("permission");
  });

  test("page through messages by position", async () => {
    for (const text of ["One", "Two", "Three"]) await send(text);
    const first = (await site.call("listChatMessages", { as: "client", params: { channelId }, query: { limit: 2 } })).as(ChatMessagePage);
    expect(first.results.map(({ text }) => text)).toEqual(["Three", "Two"]);
    const query = { limit: 2, before: first.before ?? 0 };
    const second = (await site.call("listChatMessages", { as: "client", params: { channelId }, query })).as(ChatMessagePage);
    expect(second).toMatchObject({ results: [{ text: "One" }], before: null });
  });

  test("read and replace settings, ban, list and lift", async () => {
    const settings = await site.call("replaceChatSettings", { params: { channelId }, body: { slowSeconds: 5 } });
    expect(settings.as(ChatSettings).slowSeconds).toBe(5);
    expect((await site.call("getChatSettings", { as: "client", params: { channelId } })).as(ChatSettings).slowSeconds).toBe(5);
    const body = { accountId: site.accounts.viewer.id, kind: "ban", channelId };
    const { _id } = (await site.call("banFromChat", { body })).as(ChatBan);
    const listed = await site.call("listChatBans", { query: { accountId: site.accounts.viewer.id } });
    expect(listed.text).toContain(_id);
    expect((await site.call("liftChatBan", { params: { id: _id } })).status).toBe(204);
  });

  test("replace settings only as they were read, with the ETag of GET in If-Match, also those that nobody has set yet", async () => {
    const params = { channelId: await site.addChannel("tagged") };
    const read = async () => (await site.call("getChatSettings", { params })).headers.get("ETag") ?? "";
    const replace = async (etag: string, slowSeconds: number) =>
      (await site.call("replaceChatSettings", { params, body: { slowSeconds }, headers: { "If-Match": etag } })).status;
    const first = await read();
    expect([await replace(first, 5), await replace(first, 10)]).toEqual([200, 412]);
    expect(await replace(await read(), 30)).toBe(200);
  });

  test("return 404 for channels and messages that the site doesn't have", async () => {
    const unknown = newId(1);
    expect((await site.call("listChatMessages", { as: "client", params: { channelId: unknown } })).status).toBe(404);
    expect((await site.call("deleteChatMessage", { params: { channelId, id: unknown } })).status).toBe(404);
  });

  test("apply the channel's gate to history and sending", async () => {
    const gated = await site.addChannel("gated", { gate: { type: "entitlement", skus: ["season-pass"] } });
    const params = { channelId: gated };
    expect((await site.call("listChatMessages", { as: "client", params })).status).toBe(401);
    expect((await site.call("listChatMessages", { as: "viewer", params })).status).toBe(403);
    expect((await site.call("sendChatMessage", { as: "viewer", params, body: { text: "Hi" } })).status).toBe(403);
    expect((await site.call("listChatMessages", { as: "developer", params })).status).toBe(200);
  });

  test("reject a ban that would be over, a cursor of another list, and the removal of somebody else's message", async () => {
    const ban = { accountId: site.accounts.viewer.id, kind: "mute", channelId, until: Date.now() - 1 };
    expect((await site.call("banFromChat", { body: ban })).fields).toEqual(["until"]);
    for (const cursor of ["x", "1:x", `x:${newId(1)}`, `:${newId(1)}`])
      expect((await site.call("listChatQueue", { query: { cursor } })).fields, cursor).toEqual(["cursor"]);
    const room = await site.addChannel("two-rooms");
    const remove = async (id: string) => (await site.call("deleteChatMessage", { as: "creator", params: { channelId: room, id } })).status;
    const say = async () =>
      (await site.call("sendChatMessage", { as: "viewer", params: { channelId: room }, body: { text: "Mine" } })).as(ChatMessage)._id;
    expect(await remove(await say())).toBe(403);
    await site.call("replaceChatSettings", { params: { channelId: room }, body: { premoderate: true } });
    expect(await remove(await say())).toBe(404);
  });
});
