import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { relayOf } from "#worker/durable-objects/stubs.ts";
import type { ChatBatch, RoomMessage } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { SLICE } from "#worker/durable-objects/relay/chat-outbox.ts";
import { newId } from "#worker/lib/ids.ts";
import type { TestAccount, TestSite } from "../harness.ts";
import { type ChatSite, type Chatter, enterChat, newChatSite, roomOf } from "./chatters.ts";
import { newBroadcast } from "./relay-viewer.ts";

let site: TestSite;
let ann: TestAccount;
let newRoom: ChatSite["newRoom"];

beforeAll(async () => {
  ({ site, ann, newRoom } = await newChatSite());
});

function messageOf(chatSeq: number): RoomMessage {
  return {
    ...{
      id: newId(Date.now()),
      chatSeq,
      revision: 0,
      accountId: ann.id,
      name: "Ann",
      roles: [],
      system: false,
      text: "Hi",
      original: "Hi",
    },
    ...{ language: null, replyTo: null, mentions: [], reactions: {}, state: "visible", muted: false, category: null },
    ...{ sentAt: Date.now(), translations: {} },
  };
}

/** The types of frames that tell a chat batch from an overlay, as this viewer received them. */
const orderAt = (viewer: Chatter) =>
  viewer.viewer.frames.flatMap(({ type }) => (type === "chat.messages" || type === "overlay.show" ? [type] : []));

describe("A relay", () => {
  test("sends an overlay that arrives during a chat batch before the batch's rest", async () => {
    const channel = await newRoom();
    const viewers = await Promise.all(Array.from({ length: SLICE + 4 }, () => enterChat(site, channel)));
    const [first] = viewers;
    const welcome = await first?.viewer.first("welcome");
    const { epoch = "", seq = 0 } = welcome ?? {};
    const at = { chatSeq: 0, stored: 0, revision: 0, removals: 0 };
    const message = messageOf(1);
    const batch: ChatBatch = {
      ...{ from: at, upTo: { ...at, chatSeq: 1, stored: 1 } },
      ...{ messages: [message], updates: [], settings: null, people: [] },
    };
    const shown = newBroadcast();
    const body = JSON.stringify({ type: "overlay.show", seq: seq + 1, upTo: seq + 1, ...shown });
    const shows = { broadcastId: shown.broadcastId, at: Date.now(), until: shown.endsAt };
    const frame = { seq: seq + 1, body, tags: null, shows, clears: [], rule: null };
    await runInDurableObject(relayOf(env, site.id, channel, 0), async (relay) => {
      const delivering = relay.deliverChat(batch);
      relay.deliver({ epoch, frames: [frame], states: [], lost: false });
      expect(await delivering).toMatchObject({ position: { chatSeq: 1 } });
    });
    await Promise.all(viewers.map((viewer) => viewer.sees(message.id)));
    const orders = viewers.map((viewer) => orderAt(viewer).join());
    expect(orders.filter((order) => order === "chat.messages,overlay.show")).toHaveLength(SLICE);
    expect(orders.filter((order) => order === "overlay.show,chat.messages")).toHaveLength(4);
  });

  test("sends each viewer every message once, also if some join, leave and return while a batch goes out", async () => {
    const channel = await newRoom();
    const room = roomOf(site, channel);
    const staying = await Promise.all(Array.from({ length: SLICE + 4 }, () => enterChat(site, channel)));
    const say = (requestId: string) =>
      room.announce({ accountId: null, requestId, text: `Message ${requestId}`, replyTo: null, language: null });
    for (let round = 1; round <= 4; round++) {
      await say(`${round}`);
      staying[0]?.viewer.send(JSON.stringify({ type: "chat.leave" }));
      staying[0]?.viewer.send(JSON.stringify({ type: "chat.join" }));
      staying.push(await enterChat(site, channel));
    }
    await Promise.all(staying.map((viewer) => viewer.viewer.when(() => viewer.position.after === 4)));
    for (const viewer of staying.slice(1)) {
      const { chatSeq: start } = viewer.history;
      const received = viewer.of("chat.messages").flatMap(({ messages }) => messages.map(({ chatSeq }) => chatSeq));
      expect(received).toEqual(Array.from({ length: 4 - start }, (_, index) => start + index + 1));
    }
    expect([...(staying[0]?.screen.values() ?? [])].map(({ chatSeq }) => chatSeq)).toEqual([1, 2, 3, 4]);
  });
});
