import { env } from "cloudflare:workers";
import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import type { CallOptions, TestSite } from "./harness.ts";

/** A message in the site's first channel, by an account of its own: the number of messages per account is limited. */
async function newMessage(site: TestSite): Promise<string> {
  const { id: accountId } = await site.addAccount(`chatter-${randomHex(6)}`, []);
  const request = { accountId, requestId: newId(Date.now()), text: "What a save!", replyTo: null, language: null, fresh: false };
  const sent = await chatRoomOf(env, site.id, site.channels[0]).send(request);
  if (!sent.ok) throw new Error(sent.message);
  return sent.messageId;
}

/** What the paths of these operations are about, where no operation above creates it. */
export const CHAT_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/chat/v1/{channelId}/messages/{id}": newMessage,
  "/chat/v1/{channelId}/messages/{id}/reports": newMessage,
  "/chat/v1/{channelId}/messages/{id}/reactions": newMessage,
};

/** Each in a room of its own, which counts the messages of its accounts. */
export const CHAT_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  sendChatMessage: async (site) => ({
    params: { channelId: await site.addChannel(`chat-${randomHex(6)}`) },
    body: { text: "What a save!" },
  }),
};
