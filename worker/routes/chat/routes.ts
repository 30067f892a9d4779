import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { preferredLanguage } from "#worker/http/language.ts";
import { tagVersionOf } from "#worker/http/conditional.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { toChatMessage, toChatSettings } from "#worker/services/chat/message-view.ts";
import { decideMessage, listMessages, reactToMessage, removeMessage, reportMessage, sendMessage } from "#worker/services/chat/messages.ts";
import {
  ChatMessage,
  ChatMessagePage,
  ChatReport,
  ChatSettings,
  ChatSettingsInput,
  DecisionInput,
  MessageInput,
  MessagesQuery,
  ReactionInput,
  ReportInput,
} from "#worker/services/chat/schemas.ts";
import { getSettings, replaceSettings } from "#worker/services/chat/settings.ts";

export const chat = createArea();

const tag = "Chat";
const ChannelParam = z.object({ channelId: Id });
const MessageParam = z.object({ channelId: Id, id: Id });
const read = { tag, access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" } } as const;
const participate = { tag, access: { credentials: ACCOUNT, accounts: "any" } } as const;
const moderate = { tag, access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "chatModerator" } } as const;
const gate = "The channel's gate applies: 401 without a sign-in where it requires one, 403 without the entitlement.";
const readErrors = ["not_found", "unauthenticated", "forbidden", "unavailable"] as const;

chat.openapi(
  operation({
    ...read,
    operationId: "listChatMessages",
    method: "get",
    path: "/chat/v1/{channelId}/messages",
    summary: "List a channel's chat messages",
    description: `The visible messages, newest first, and the caller's own held ones. Moderators also get removed messages, and the held and muted ones sent among those of the page. ${gate}`,
    request: { params: ChannelParam, query: MessagesQuery },
    responses: { 200: json("A page of messages", ChatMessagePage) },
    errors: readErrors,
  }),
  async (c) => {
    const { messages, reacted, before, moderator } = await listMessages(c.get("ctx"), c.req.valid("param").channelId, c.req.valid("query"));
    const reader = { moderator, language: preferredLanguage(c.req.header("Accept-Language")) };
    return c.json({ results: messages.map((message) => toChatMessage(message, reader, reacted[message.id] ?? null)), before }, 200);
  },
);

chat.openapi(
  operation({
    tag,
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    operationId: "sendChatMessage",
    method: "post",
    path: "/chat/v1/{channelId}/messages",
    summary: "Send a chat message",
    description: `Sends a message as the caller, like the frame \`chat.send\`; as the site itself with \`system\`, or with a developer key. Filtered words of the channel's chat panels, and links unless these allow them, are masked. An account may send one message a second, and five at once. Safe to retry with an \`id\` or an Idempotency-Key. ${gate}`,
    request: { params: ChannelParam, body: jsonBody(MessageInput) },
    responses: { 201: json("The message; `held` if a moderator decides whether it is shown", ChatMessage) },
    errors: ["not_found", "forbidden", "chat_banned", "chat_members_only", "chat_paused", "rate_limited", "chat_slow_mode", "chat_busy"],
  }),
  async (c) => {
    const language = preferredLanguage(c.req.header("Accept-Language"));
    const message = await sendMessage(c.get("ctx"), c.req.valid("param").channelId, { ...c.req.valid("json"), language });
    return c.json(toChatMessage(message, { moderator: false, language: null }, null), 201);
  },
);

chat.openapi(
  operation({
    tag,
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    operationId: "deleteChatMessage",
    method: "delete",
    path: "/chat/v1/{channelId}/messages/{id}",
    summary: "Remove a chat message",
    description:
      "Removes a message from history and, within a second, from all open screens. The author and the channel's moderators may; moderators still see it as `removed`.",
    request: { params: MessageParam },
    responses: { 204: { description: "Removed" } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { channelId, id } = c.req.valid("param");
    await removeMessage(c.get("ctx"), channelId, id);
    return c.body(null, 204);
  },
);

chat.openapi(
  operation({
    ...moderate,
    operationId: "decideChatMessage",
    method: "put",
    path: "/chat/v1/{channelId}/messages/{id}",
    summary: "Approve or reject a chat message",
    description: "Decides on a held or reported message and settles its reports. An approved one appears at the end of the chat.",
    request: { params: MessageParam, body: jsonBody(DecisionInput) },
    responses: { 200: json("The message", ChatMessage) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { channelId, id } = c.req.valid("param");
    const message = await decideMessage(c.get("ctx"), channelId, id, c.req.valid("json"));
    return c.json(toChatMessage(message, { moderator: true, language: null }), 200);
  },
);

chat.openapi(
  operation({
    ...participate,
    operationId: "reportChatMessage",
    method: "post",
    path: "/chat/v1/{channelId}/messages/{id}/reports",
    summary: "Report a chat message",
    description: `Puts the message into the moderators' queue. An account reports a message once; repeating it returns the first report. ${gate}`,
    request: { params: MessageParam, body: jsonBody(ReportInput) },
    responses: { 201: json("The report", ChatReport), 200: json("The caller's earlier report", ChatReport) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { channelId, id } = c.req.valid("param");
    const { report, isNew } = await reportMessage(c.get("ctx"), channelId, id, c.req.valid("json").reason);
    return c.json(report, isNew ? 201 : 200);
  },
);

chat.openapi(
  operation({
    ...participate,
    operationId: "reactToChatMessage",
    method: "put",
    path: "/chat/v1/{channelId}/messages/{id}/reactions",
    summary: "React to a chat message",
    description: `Sets, replaces or, with null, withdraws the caller's reaction, like the frame \`chat.react\`. ${gate}`,
    request: { params: MessageParam, body: jsonBody(ReactionInput) },
    responses: { 200: json("The message", ChatMessage) },
    errors: ["not_found", "forbidden", "chat_banned", "rate_limited"],
  }),
  async (c) => {
    const { channelId, id } = c.req.valid("param");
    const { emoji } = c.req.valid("json");
    const message = await reactToMessage(c.get("ctx"), channelId, id, emoji);
    return c.json(toChatMessage(message, { moderator: false, language: null }, emoji), 200);
  },
);

chat.openapi(
  operation({
    ...read,
    operationId: "getChatSettings",
    method: "get",
    path: "/chat/v1/{channelId}/settings",
    summary: "Get a chat's settings",
    description: `Who may send, slow mode, emoji, languages, the pinned message, and the sender of the site's own messages. ${gate}`,
    request: { params: ChannelParam },
    responses: { 200: json("The settings", ChatSettings) },
    errors: readErrors,
  }),
  async (c) => {
    const { settings, moderator } = await getSettings(c.get("ctx"), c.req.valid("param").channelId);
    const shown = toChatSettings(settings, { moderator, language: preferredLanguage(c.req.header("Accept-Language")) });
    await tagVersionOf(c, settings, JSON.stringify(shown));
    return c.json(shown, 200);
  },
);

chat.openapi(
  operation({
    ...moderate,
    operationId: "replaceChatSettings",
    method: "put",
    path: "/chat/v1/{channelId}/settings",
    summary: "Replace a chat's settings",
    description: "Replaces all settings; omitted fields get their defaults. Viewers receive them as `chat.settings`.",
    request: { params: ChannelParam, body: jsonBody(ChatSettingsInput) },
    responses: { 200: json("The settings", ChatSettings) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const { settings, moderator } = await replaceSettings(c.get("ctx"), c.req.valid("param").channelId, c.req.valid("json"));
    const shown = toChatSettings(settings, { moderator, language: null });
    await tagVersionOf(c, settings, JSON.stringify(shown));
    return c.json(shown, 200);
  },
);
