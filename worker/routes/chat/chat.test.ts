import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { ChatBan, ChatMessage, ChatMessagePage, ChatQueue, ChatSettings } from "#worker/services/chat/schemas.ts";
import { newSite, type TestSite } from "#test/harness.ts";

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
});
