import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { Id, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { banAccount, liftBan, listBans } from "#worker/services/chat/bans.ts";
import { exportRoom } from "#worker/services/chat/export.ts";
import { toQueueEntry } from "#worker/services/chat/message-view.ts";
import { listQueue } from "#worker/services/chat/queue.ts";
import { BanFilters, ChatBan, ChatBanInput, ChatQueue, ExportQuery, QueueQuery, toChatBan } from "#worker/services/chat/schemas.ts";
import { listOf, listQuery, listResponse } from "#worker/services/core/list-schemas.ts";

export const moderation = createArea();

const moderate = { tag: "Chat", access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "chatModerator" } } as const;

const TYPES = { csv: "text/csv; charset=utf-8", jsonl: "application/jsonl; charset=utf-8" } as const;

moderation.openapi(
  operation({
    ...moderate,
    operationId: "listChatQueue",
    method: "get",
    path: "/chat/v1/queue",
    summary: "List messages that wait for a moderator",
    description:
      "The held and reported messages of all channels that the caller moderates, longest waiting first, with their reports. A page may have fewer entries than `limit` although there is a next one.",
    request: { query: QueueQuery },
    responses: { 200: json("A page of the queue", ChatQueue) },
    errors: ["unavailable"],
  }),
  async (c) => {
    const { entries, next } = await listQueue(c.get("ctx"), c.req.valid("query"));
    return c.json({ results: entries.map(toQueueEntry), next }, 200);
  },
);

moderation.openapi(
  operation({
    ...moderate,
    operationId: "banFromChat",
    method: "post",
    path: "/chat/v1/bans",
    summary: "Ban or mute an account or a device",
    description:
      "Applies to open connections immediately. A second ban or mute of an account or device in the same place replaces the first. Only moderators of every channel may omit `channelId`, and only site admins may ban accounts with roles. A device is what realtime connections name as `deviceId`, so its ban also stops anonymous viewers; REST requests name none.",
    request: { body: jsonBody(ChatBanInput) },
    responses: { 201: json("The ban", ChatBan), 200: json("The ban, which replaces an earlier one", ChatBan) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { ban, isNew } = await banAccount(c.get("ctx"), c.req.valid("json"));
    return c.json(toChatBan(ban), isNew ? 201 : 200);
  },
);

moderation.openapi(
  operation({
    ...moderate,
    operationId: "listChatBans",
    method: "get",
    path: "/chat/v1/bans",
    summary: "List bans and mutes",
    description:
      "The bans and mutes of the site and of the channels that the caller moderates, newest first, including those that have ended.",
    request: { query: listQuery(["created"], BanFilters) },
    responses: { 200: json("A page of bans", listOf(ChatBan).openapi("ChatBanList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listBans(c.get("ctx"), query), toChatBan), 200);
  },
);

moderation.openapi(
  operation({
    ...moderate,
    operationId: "liftChatBan",
    method: "delete",
    path: "/chat/v1/bans/{id}",
    summary: "Lift a ban or mute",
    description: "Applies immediately.",
    request: { params: IdParam },
    responses: { 204: { description: "Lifted" } },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await liftBan(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);

const File = { schema: z.string() };

moderation.openapi(
  operation({
    ...moderate,
    operationId: "exportChat",
    method: "get",
    path: "/chat/v1/{channelId}/export",
    summary: "Export a chat",
    description:
      "All messages of the room in the order in which they were stored, with moderation: CSV with a header (values that a spreadsheet would treat as a formula are prefixed with an apostrophe), or one JSON object per line.",
    request: { params: z.object({ channelId: Id }), query: ExportQuery },
    responses: { 200: { description: "The file", content: { "text/csv": File, "application/jsonl": File } } },
    errors: ["not_found", "unavailable"],
  }),
  async (c) => {
    const { channelId } = c.req.valid("param");
    const { format } = c.req.valid("query");
    return c.body(streamText(await exportRoom(c.get("ctx"), channelId, format)), 200, {
      "Content-Type": TYPES[format],
      "Content-Disposition": `attachment; filename="chat-${channelId}.${format}"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);
