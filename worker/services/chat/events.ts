import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { ChatBanEvent, ChatSettingsEvent } from "./schemas.ts";

const ids = { message: "5eed0000000000000e007801", ban: "5eed0000000000000e007802" };

const ModeratedMessage = z.object({ _id: Id, channelId: Id, accountId: Id.nullable() });
const message = { data: ModeratedMessage, resource: "chat/_id" };

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    ids,
    samples: [
      [/^chat\.(message|reported)/, { _id: ids.message, channelId: SAMPLE_IDS.page, accountId: SAMPLE_IDS.viewer }],
      [
        /^chat\.(banned|unbanned)$/,
        {
          _id: ids.ban,
          accountId: SAMPLE_IDS.viewer,
          kind: "ban",
          channelId: SAMPLE_IDS.page,
          until: null,
          reason: "Spam",
          createdBy: SAMPLE_IDS.admin,
        },
      ],
      [
        /^chat\.settingsUpdated$/,
        {
          _id: SAMPLE_IDS.page,
          mode: "open",
          slowSeconds: 10,
          premoderate: false,
          skus: [],
          emoji: ["👍"],
          languages: [],
          pinnedMessageId: null,
        },
      ],
    ],
  },
  {
    "chat.banned": {
      data: ChatBanEvent,
      description: "An account was banned from the chat or muted, or its ban changed",
      resource: "chatban/_id",
    },
    "chat.messageApproved": { ...message, description: "A moderator approved a held message or kept a reported one" },
    "chat.messageRemoved": { ...message, description: "A message was removed by its author or a moderator" },
    "chat.reported": { ...message, description: "A viewer reported a message; one event per message until a moderator decides" },
    "chat.settingsUpdated": { data: ChatSettingsEvent, description: "The settings of a chat room changed", resource: "chat/_id" },
    "chat.unbanned": { data: ChatBanEvent, description: "A ban or mute was lifted", resource: "chatban/_id" },
  },
);
