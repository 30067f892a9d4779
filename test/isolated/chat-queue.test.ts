import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { newId } from "#worker/lib/ids.ts";
import { ChatQueue } from "#worker/services/chat/schemas.ts";
import type { TestAccount, TestSite } from "../harness.ts";
import { type ChatSite, enterChat, newChatSite, roomOf } from "./chatters.ts";
import { evict, runAlarmAt } from "./relay-viewer.ts";
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

const queueOf = async (account: TestAccount, query: Record<string, string | number> = {}) =>
  (await as(account, "listChatQueue", { query })).as(ChatQueue);

/** Sends a message to a room that holds all; returns its id. */
async function hold(channelId: string, account: TestAccount): Promise<string> {
  const sent = await roomOf(site, channelId).send({
    ...{ accountId: account.id, requestId: newId(Date.now()), text: "Please", replyTo: null, language: null, fresh: false },
  });
  if (!sent.ok) throw new Error(sent.message);
  return sent.messageId;
}

async function newHoldingRoom(): Promise<string> {
  const channelId = await newRoom();
  await setSettings(channelId, { premoderate: true });
  return channelId;
}

describe("The moderators' queue", () => {
  test("pages over rooms by the time that messages wait, and asks no other rooms", async () => {
    const [one, two, idle] = [await newHoldingRoom(), await newHoldingRoom(), await newRoom()];
    await enterChat(site, idle);
    const held: string[] = [];
    for (const room of [one, two, one, two]) held.push(await hold(room, room === one ? ann : ben));
    const channelIds = `${one},${two},${idle}`;
    await expect.poll(async () => (await queueOf(moderator, { channelIds })).results.length).toBe(4);
    const getByName = vi.spyOn(env.CHAT_ROOM, "getByName");
    const first = await queueOf(moderator, { channelIds, limit: 1 });
    const rooms = getByName.mock.calls.map(([name]) => name);
    getByName.mockRestore();
    expect(rooms).toEqual([`${site.id}:${one}`]);
    const pages = [first];
    for (let next = first.next; next !== null; next = pages.at(-1)?.next ?? null)
      pages.push(await queueOf(moderator, { channelIds, limit: 1, cursor: next }));
    expect(pages.flatMap(({ results }) => results.map(({ _id, channelId }) => [_id, channelId]))).toEqual(
      held.map((id, index) => [id, index % 2 === 0 ? one : two]),
    );
  });

  test("leaves out what was decided on since it was listed, and keeps the pages after it", async () => {
    const room = await newHoldingRoom();
    const [first, second] = [await hold(room, ann), await hold(room, ben)];
    await expect.poll(async () => (await queueOf(moderator, { channelIds: room })).results.length).toBe(2);
    await runInDurableObject(roomOf(site, room), (_, { storage }) => {
      storage.sql.exec("UPDATE messages SET state = 'removed' WHERE id = ?", first);
      storage.sql.exec("DELETE FROM queue_changes");
    });
    const page = await queueOf(moderator, { channelIds: room, limit: 1 });
    expect(page.results).toEqual([]);
    expect((await queueOf(moderator, { channelIds: room, limit: 1, cursor: page.next ?? "" })).results).toMatchObject([{ _id: second }]);
  });

  test("shows a moderator only the channels that they moderate, and nothing of another site", async () => {
    const [here, there] = [await newHoldingRoom(), await newHoldingRoom()];
    const [own] = [await hold(here, ann), await hold(there, ben)];
    const local = await site.addAccount("Local", [{ scope: "Chat_Moderator", pageId: [here], write: true }]);
    await expect.poll(async () => (await queueOf(local)).results.map(({ _id }) => _id)).toEqual([own]);
    expect((await queueOf(local, { channelIds: there })).results).toEqual([]);
    const other = await newChatSite();
    expect((await other.as(other.moderator, "listChatQueue")).as(ChatQueue).results).toEqual([]);
  });

  test("catches up after a failed write: what is decided on or deleted leaves it", async () => {
    const room = await newHoldingRoom();
    const first = await hold(room, ann);
    await expect.poll(() => waiting(room)).toBe(1);
    const prepare = vi.spyOn(siteStore, "prepare").mockImplementation(() => {
      throw new Error("D1 is down");
    });
    const id = await hold(room, ann).finally(() => prepare.mockRestore());
    await evict(roomOf(site, room));
    await runAlarmAt(roomOf(site, room), Date.now());
    expect((await queueOf(moderator, { channelIds: room })).results.map(({ _id }) => _id)).toEqual([first, id]);
    await as(moderator, "decideChatMessage", { params: { channelId: room, id: first }, body: { decision: "approve" } });
    await as(moderator, "decideChatMessage", { params: { channelId: room, id }, body: { decision: "reject" } });
    await expect.poll(() => waiting(room)).toBe(0);
    await hold(room, ben);
    await expect.poll(() => waiting(room)).toBe(1);
    expect((await site.call("deletePage", { params: { id: room } })).status).toBe(200);
    expect(await waiting(room)).toBe(0);
  });

  test("loses the messages of an erased account, also reported ones", async () => {
    const [room, zoe] = [await newRoom(), await site.addAccount("Zoe", [])];
    const z = await enterChat(site, room, zoe);
    const id = await z.says("Rude");
    await as(ben, "reportChatMessage", { params: { channelId: room, id }, body: { reason: "Insult" } });
    await expect.poll(() => waiting(room)).toBe(1);
    await roomOf(site, room).erase(zoe.id);
    await expect.poll(() => waiting(room)).toBe(0);
  });
});

/** The database's rows for a room. */
async function waiting(channelId: string): Promise<number | null> {
  return siteStore.prepare("SELECT count(*) AS n FROM chat_queue WHERE channel_id = ?").bind(channelId).first<number>("n");
}
