import { z } from "@hono/zod-openapi";
import { ChatMessage, ChatSettings, Language, RequestId } from "#worker/services/chat/schemas.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";

// The chat's messages on a channel's socket. They aren't part of the channel's log and have no `upTo`. No platform import.

export { ChatMessage, ChatSettings } from "#worker/services/chat/schemas.ts";

const ChatSeq = z.number().int().nonnegative().describe("Position in the chat room; 0 before its first message");
const Revision = z.number().int().nonnegative().describe("Counts later changes of messages: removals, approvals, reactions, translations");
const OwnId = RequestId.describe("The viewer's own id for this request: a repeat within 24 hours gets the first result");
const MessageId = z.string().regex(ID_PATTERN);

/** The settings as this viewer sees them. */
export const ChatViewerSettings = ChatSettings.extend({
  moderator: z.boolean().describe("Whether this viewer moderates the room"),
  banned: z
    .object({ until: z.number().int().nullable().describe("Milliseconds since 1970 UTC; null: until it is lifted"), reason: z.string() })
    .nullable()
    .describe("Why this viewer may not send"),
});

/** The response to `chat.join`, oldest message first. */
export const ChatHistory = z.object({
  type: z.literal("chat.history"),
  recovered: z.boolean().describe("True: `messages` follow `after`, and `updates` are what changed since `revision`. False: start over"),
  messages: z.array(ChatMessage),
  updates: z.array(ChatMessage).describe("Earlier messages that changed, as they are now; replace the viewer's copies"),
  chatSeq: ChatSeq,
  revision: Revision,
  settings: ChatViewerSettings,
});

/**
 * New messages, at most four times a second. Those with a `chatSeq`, plus `skipped`, are the step from the viewer's last `chatSeq` to this
 * one. Moderators receive held messages too, and a sender the own ones, without a `chatSeq`.
 */
export const ChatMessages = z.object({
  type: z.literal("chat.messages"),
  messages: z.array(ChatMessage),
  skipped: z.number().int().nonnegative().describe("Messages left out of a busy room"),
  chatSeq: ChatSeq,
});

/** Messages that changed, as they are now; those that the viewer never received can be ignored. */
export const ChatUpdated = z.object({ type: z.literal("chat.updated"), messages: z.array(ChatMessage), revision: Revision });

export const ChatSettingsChanged = z.object({ type: z.literal("chat.settings"), settings: ChatViewerSettings });

/** The response to `chat.send` and `chat.react`, sent only to the sender. */
export const ChatResult = z.object({
  type: z.literal("chat.result"),
  id: z.string().describe("The `id` of the request"),
  ok: z.boolean(),
  messageId: MessageId.optional(),
  state: z.enum(["visible", "held"]).optional().describe("`held`: a moderator decides whether it is shown"),
  code: z.string().optional().describe("Why it was rejected: an error code of the API"),
  message: z.string().optional().describe("Why it was rejected, as a sentence"),
  retryAfter: z.number().int().optional().describe("Seconds after which the message may be sent"),
});

/** Enters the room. With the position of an earlier `chat.history`, the response contains only what was missed. */
export const ChatJoin = z.strictObject({
  type: z.literal("chat.join"),
  after: ChatSeq.optional().describe("The last `chatSeq` received"),
  revision: Revision.optional().describe("The last `revision` received"),
  language: Language.optional().describe("The viewer's language; by default that of the connection"),
});

/** Leaves the room; the channel's other frames continue. */
export const ChatLeave = z.strictObject({ type: z.literal("chat.leave") });

/** Sends a message; `chat.result` reports the outcome. The viewer doesn't have to join first. */
export const ChatSend = z.strictObject({
  type: z.literal("chat.send"),
  id: OwnId,
  text: z.string().describe("1 to 500 characters"),
  replyTo: MessageId.optional(),
});

/** Sets, replaces or, with null, withdraws the viewer's reaction to a message. */
export const ChatReact = z.strictObject({
  type: z.literal("chat.react"),
  id: OwnId,
  messageId: MessageId,
  emoji: z.string().min(1).max(32).nullable(),
});

export type ChatViewerSettings = z.infer<typeof ChatViewerSettings>;
export type ChatResult = z.infer<typeof ChatResult>;
