import { and, eq, type SQL } from "drizzle-orm";
import { chatBans } from "#db/schema/engagement/chat.ts";
import type { StoredMessage } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { type Person, type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";
import { fromRoom, ownRoom, roomsUsedBy } from "./rooms.ts";

const area = "chat";
/** Messages that a room returns at a time. */
const PAGE = 500;

export const chatData: PersonalData[] = [
  rowsOf(
    { name: "chatBans", area, description: "Bans from the chat; mutes only for keys and admins, because the person isn't told" },
    {
      table: chatBans,
      of: ({ siteId }, { accountId, isSelf }) =>
        and(eq(chatBans.siteId, siteId), eq(chatBans.accountId, accountId), isSelf ? isBan : undefined),
      columns: {
        kind: chatBans.kind,
        channelId: chatBans.channelId,
        until: chatBans.until,
        reason: chatBans.reason,
        created: chatBans.created,
        modified: chatBans.modified,
      },
    },
  ),
  { name: "chatMessages", area, description: "Chat messages as they were sent and as viewers see them", tables: [], pages: messagesOf },
  { name: "chatResponses", area, description: "Reactions to chat messages, and reports of them", tables: [], pages: responsesOf },
];

const isBan: SQL = eq(chatBans.kind, "ban");

async function* messagesOf(ctx: Ctx, { accountId }: Person): AsyncGenerator<object[], void> {
  for (const channelId of await roomsUsedBy(ctx, accountId)) {
    let last: StoredMessage | undefined;
    do {
      const after = last ? { sentAt: last.message.sentAt, stored: last.stored } : null;
      const page = await fromRoom(ownRoom(ctx, channelId).writtenBy(accountId, after, PAGE));
      yield page.map(({ message }) => ({
        _id: message.id,
        channelId,
        text: message.text,
        original: message.original,
        language: message.language,
        replyTo: message.replyTo,
        system: message.system,
        state: message.state,
        sentAt: message.sentAt,
      }));
      last = page.length < PAGE ? undefined : page.at(-1);
    } while (last);
  }
}

async function* responsesOf(ctx: Ctx, { accountId }: Person): AsyncGenerator<object[], void> {
  for (const channelId of await roomsUsedBy(ctx, accountId)) {
    const responses = await fromRoom(ownRoom(ctx, channelId).responsesBy(accountId));
    yield responses.map((response) => ({ channelId, ...response }));
  }
}
