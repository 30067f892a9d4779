import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { ServerMessage, type ServerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { ChatMessage } from "#worker/services/chat/schemas.ts";
import { newSite, ORIGIN, type TestSite } from "../harness.ts";
import { enterChat } from "./chatters.ts";

let site: TestSite;
let channelId: string;

beforeAll(async () => {
  site = await newSite();
});

interface Event {
  id: string;
  frames: ServerFrame[];
}

/** Reads a channel's stream until an event contains a frame of this type. */
async function readUntil(type: ServerFrame["type"], query: object, headers: Record<string, string> = {}): Promise<Event[]> {
  const parameters = new URLSearchParams({ clientId: site.id, ...query }).toString();
  const { body } = await exports.default.fetch(`${ORIGIN}/realtime/v1/channels/${channelId}/events?${parameters}`, { headers });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const events: Event[] = [];
  for (let text = ""; reader && !events.some(({ frames }) => frames.some((frame) => frame.type === type));) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The stream has ended");
    const blocks = (text + value).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const { id, data } = /^id: (?<id>.*)\ndata: (?<data>.*)$/.exec(block)?.groups ?? {};
      if (id === undefined || data === undefined) continue;
      const message = ServerMessage.parse(JSON.parse(data));
      events.push({ id, frames: Array.isArray(message) ? message : [message] });
    }
  }
  await reader?.cancel();
  return events;
}

function historyIn(events: Event[]) {
  const history = events.flatMap(({ frames }) => frames).find((frame) => frame.type === "chat.history");
  if (!history) throw new Error("No history");
  return history;
}

describe("The chat in a stream of Server-Sent Events", () => {
  test("starts with its history, and continues at the position in the URL or in Last-Event-ID", async () => {
    channelId = await site.addChannel(`room-${newId(Date.now())}`);
    const writer = await enterChat(site, channelId, site.accounts.viewer);
    await writer.says("Before");
    const first = await readUntil("chat.history", { chat: "true" });
    const history = historyIn(first);
    expect(history).toMatchObject({ recovered: false, messages: [{ text: "Before" }], chatSeq: 1 });
    await writer.says("Meanwhile");
    const position = { chatAfter: String(history.chatSeq), chatRevision: String(history.revision) };
    const missed = { recovered: true, messages: [{ text: "Meanwhile" }], chatSeq: 2 };
    expect(historyIn(await readUntil("chat.history", { chat: "true", ...position }))).toMatchObject(missed);
    const headers = { "Last-Event-ID": first.at(-1)?.id ?? "" };
    expect(historyIn(await readUntil("chat.history", { chat: "true" }, headers))).toMatchObject(missed);
  });

  test("shows a message once that was sent as a frame and then, because no response came, as a request", async () => {
    channelId = await site.addChannel(`room-${newId(Date.now())}`);
    const id = newId(Date.now());
    const writer = await enterChat(site, channelId, site.accounts.viewer);
    const messageId = await writer.says("Once", { id });
    const options = { as: "viewer" as const, params: { channelId }, body: { id, text: "Once" } };
    expect((await site.call("sendChatMessage", options)).as(ChatMessage)._id).toBe(messageId);
    expect(historyIn(await readUntil("chat.history", { chat: "true" })).messages).toHaveLength(1);
  });
});
