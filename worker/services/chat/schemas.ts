import { z } from "@hono/zod-openapi";
import { CHAT_BAN_KINDS, CHAT_DECISIONS, CHAT_MESSAGE_STATES, CHAT_MODES, CHAT_SENDER_ROLES } from "#db/enums.ts";
import type { ChatBanRow } from "#db/schema/engagement/chat.ts";
import { commaSeparated, fromQuery, Id, ImageUrl, orNull, Sku, Time, Tracked } from "#worker/lib/schemas/common.ts";

/** How much text a sender may send; the pipeline rejects what is longer after normalization. */
export const MAX_TEXT = 500;
/** How many emoji a room offers for reactions, and how many languages it translates into. */
const MAX_EMOJI = 12;
const MAX_LANGUAGES = 10;

export const DEFAULT_EMOJI = ["👍", "❤️", "😂", "🎉", "😮", "😢"];

const Emoji = z.string().min(1).max(32).openapi({ example: "👍" });
export const Language = z
  .string()
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "A BCP 47 language tag")
  .max(35)
  .openapi({ example: "es" });

export const ChatMessage = z
  .object({
    _id: Id,
    chatSeq: z
      .number()
      .int()
      .nullable()
      .describe("Position in the room, from 1, given when the message becomes visible; null while it is held"),
    accountId: Id.nullable().describe("The sender; null for the site's own messages and those of deleted accounts"),
    name: z.string().describe("The sender's name when the message was sent"),
    roles: z.array(z.enum(CHAT_SENDER_ROLES)).describe("The sender's roles in this room when the message was sent"),
    system: z.boolean().describe("Whether it is the site's own message"),
    text: z
      .string()
      .nullable()
      .describe("The text with filtered words and links masked; null once the message is removed, except for moderators"),
    original: z.string().optional().describe("The unmasked text, for moderators only"),
    language: Language.nullable().describe("The language of the text, if known"),
    translation: z
      .object({ language: Language, text: z.string() })
      .nullable()
      .describe("The text in the viewer's language, if the room translates into it"),
    replyTo: Id.nullable().describe("The message that this one replies to"),
    mentions: z.array(Id).describe("Accounts whose names follow an @ in the text"),
    reactions: z.record(z.string(), z.number().int()).describe("How many accounts chose each emoji"),
    reacted: Emoji.nullable().optional().describe("The viewer's own reaction; absent if unchanged"),
    state: z.enum(CHAT_MESSAGE_STATES),
    muted: z.boolean().optional().describe("True for moderators if the sender is muted, so that nobody else sees the message"),
    sentAt: Time,
  })
  .openapi("ChatMessage");

/** The sender and welcome text of the site's own messages, from the channel's chat panel. */
const SystemSender = z.object({ name: z.string().nullable(), image: ImageUrl.nullable(), welcomeMessage: z.string().nullable() });

const rules = {
  mode: z.enum(CHAT_MODES).describe("Who may send: everyone, accounts with one of `skus`, or only moderators (`paused`). All may read"),
  slowSeconds: z.number().int().min(0).max(3600).describe("Seconds between two messages of one account; 0: no slow mode"),
  premoderate: z.boolean().describe("Whether messages are held until a moderator approves them"),
  skus: z.array(Sku).max(50).describe("In `members` mode, an entitlement to any of these is required"),
  emoji: z
    .array(Emoji)
    .max(MAX_EMOJI)
    .refine((list) => new Set(list).size === list.length, "Two emoji are equal")
    .describe("The emoji offered for reactions"),
  languages: z
    .array(Language)
    .max(MAX_LANGUAGES)
    .describe("Languages that messages are translated into, if the deployment has a translator"),
};

export const ChatSettings = z
  .object({
    channelId: Id,
    ...rules,
    pinned: orNull(ChatMessage),
    system: SystemSender,
    created: Time.nullable().describe("Null while the room has its default settings"),
    modified: Time.nullable(),
  })
  .openapi("ChatSettings");

export const ChatSettingsInput = z
  .strictObject({
    ...rules,
    mode: rules.mode.default("open"),
    slowSeconds: rules.slowSeconds.default(0),
    premoderate: rules.premoderate.default(false),
    skus: rules.skus.default([]),
    emoji: rules.emoji.default(DEFAULT_EMOJI),
    languages: rules.languages.default([]),
    pinnedMessageId: Id.nullable().default(null).describe("A visible message of the room"),
  })
  .refine(({ mode, skus }) => mode !== "members" || skus.length > 0, { path: ["skus"], message: "Required in members mode" })
  .openapi("ChatSettingsInput", { example: { mode: "open", slowSeconds: 10, emoji: ["👍", "❤️"], pinnedMessageId: null } });

/** What the event of a change contains. */
export const ChatSettingsEvent = z.object({ _id: Id, ...rules, pinnedMessageId: Id.nullable(), ...Tracked });

/** The sender's own id for a message or reaction. */
export const RequestId = z.string().min(1).max(64);

export const MessageInput = z
  .strictObject({
    id: RequestId.optional().describe(
      "The caller's own id for this message: a repeat within 24 hours gets the first result, also if the first one was the frame `chat.send`",
    ),
    text: z.string().describe(`1 to ${MAX_TEXT} characters after normalization (NFC); line breaks become spaces`),
    replyTo: Id.optional().describe("A visible message of the room"),
    system: z
      .boolean()
      .default(false)
      .describe(
        "Whether it is the site's own message, under the name in the channel's chat panel; moderators only, always true for developer keys",
      ),
  })
  .openapi("ChatMessageInput", { example: { text: "What a save!" } });

export const DecisionInput = z
  .strictObject({
    decision: z
      .enum(CHAT_DECISIONS)
      .describe("`approve` shows a held message, or keeps a reported one; `reject` removes it. Both settle its reports"),
  })
  .openapi("ChatDecisionInput", { example: { decision: "approve" } });

export const ReportInput = z
  .strictObject({ reason: z.string().trim().min(1).max(500) })
  .openapi("ChatReportInput", { example: { reason: "Insults another viewer" } });

export const ReactionInput = z
  .strictObject({ emoji: Emoji.nullable().describe("One of the room's emoji; null withdraws the reaction") })
  .openapi("ChatReactionInput", { example: { emoji: "👍" } });

export const ChatReport = z.object({ accountId: Id.nullable(), reason: z.string(), reportedAt: Time }).openapi("ChatReport");

export const QueueEntry = ChatMessage.extend({
  channelId: Id,
  category: z.string().nullable().describe("Why the automatic moderator held the message, in that service's terms; null if it didn't"),
  reports: z.array(ChatReport),
}).openapi("ChatQueueEntry");

const DeviceId = z.string().min(1).max(200).openapi({ example: "b2c9e6a4-5d1f-4f57-9a3e-1c0d7e8f9a10" });

export const ChatBanInput = z
  .strictObject({
    accountId: Id.optional(),
    deviceId: DeviceId.optional().describe(
      "Instead of an account: the `deviceId` of its connections. They can neither join the chat nor send; moderators aren't affected",
    ),
    kind: z
      .enum(CHAT_BAN_KINDS)
      .describe("`ban`: reads but can't send. `mute`: keeps sending, but only the sender and moderators see the messages; accounts only"),
    channelId: Id.nullable().default(null).describe("Null: every channel of the site"),
    until: Time.nullable().default(null).describe("Milliseconds since 1970 UTC; null: until it is lifted"),
    reason: z.string().trim().max(500).default(""),
  })
  .refine(({ accountId, deviceId }) => (accountId === undefined) !== (deviceId === undefined), {
    path: ["accountId"],
    message: "Either an account or a device",
  })
  .refine(({ deviceId, kind }) => deviceId === undefined || kind === "ban", { path: ["kind"], message: "A device can only be banned" })
  .openapi("ChatBanInput", {
    example: { accountId: "5eed0000000000000e00a003", kind: "mute", channelId: "5eed0000000000000000c001", reason: "Spam" },
  });

export const ChatBan = z
  .object({
    _id: Id,
    accountId: Id.nullable().describe("Null for the ban of a device"),
    deviceId: DeviceId.nullable(),
    kind: z.enum(CHAT_BAN_KINDS),
    channelId: Id.nullable(),
    until: Time.nullable(),
    reason: z.string(),
    createdBy: Id.nullable().describe("The account that set it; null for a developer key"),
    ...Tracked,
  })
  .openapi("ChatBan");

/** A ban in the event log, which keys read that may not read viewers' devices. */
export const ChatBanEvent = ChatBan.omit({ deviceId: true });

export const BanFilters = {
  accountId: Id.optional(),
  deviceId: DeviceId.optional(),
  channelId: Id.optional(),
  kind: z.enum(CHAT_BAN_KINDS).optional(),
};

export function toChatBan(row: ChatBanRow) {
  return {
    _id: row.id,
    accountId: row.accountId === "" ? null : row.accountId,
    deviceId: row.deviceId === "" ? null : row.deviceId,
    kind: row.kind,
    channelId: row.channelId === "" ? null : row.channelId,
    until: row.until,
    reason: row.reason,
    createdBy: row.createdBy,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof ChatBan>;
}

export function toChatBanEvent(row: ChatBanRow): z.output<typeof ChatBanEvent> {
  return ChatBanEvent.parse(toChatBan(row));
}

export const MESSAGES_LIMIT = 100;

export const MessagesQuery = z.strictObject({
  limit: fromQuery(z.number().int().min(1).max(MESSAGES_LIMIT)).default(50),
  before: fromQuery(z.number().int().min(1)).optional().describe("A `chatSeq`: only earlier messages, for the next page"),
});

export const ChatMessagePage = z
  .object({
    results: z.array(ChatMessage).describe("Newest first"),
    before: z.number().int().nullable().describe("The `before` of the next page; null on the last page"),
  })
  .openapi("ChatMessagePage");

export const QueueQuery = z.strictObject({
  limit: fromQuery(z.number().int().min(1).max(MESSAGES_LIMIT)).default(50),
  cursor: z.string().max(100).optional().describe("The `next` of the previous page"),
  channelIds: commaSeparated(Id, 50, "5eed0000000000000000c001").optional().describe("Only these channels"),
});

export const ChatQueue = z
  .object({
    results: z.array(QueueEntry).describe("Oldest first"),
    next: z.string().nullable().describe("The `cursor` of the next page; null on the last page"),
  })
  .openapi("ChatQueue");

export const ExportQuery = z.strictObject({ format: z.enum(["csv", "jsonl"]).default("csv") });

export type ChatMessage = z.output<typeof ChatMessage>;
export type ChatSettings = z.output<typeof ChatSettings>;
export type ChatSettingsInput = z.output<typeof ChatSettingsInput>;
export type ChatBanInput = z.output<typeof ChatBanInput>;
export type DecisionInput = z.output<typeof DecisionInput>;
export type ChatReport = z.output<typeof ChatReport>;
