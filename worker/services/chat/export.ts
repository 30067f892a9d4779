import type { ExportedMessage } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { csvLine } from "#worker/lib/csv.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { keyAllows } from "#worker/lib/roles.ts";
import { requireStillAllowed } from "#worker/services/auth/current-caller.ts";
import { mayModerate, requireChatModerator } from "#worker/services/core/moderators.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import { toChatMessage } from "./message-view.ts";
import { fromRoom, ownRoom } from "./rooms.ts";

const PAGE = 500;

const COLUMNS = {
  _id: ({ message }) => message.id,
  chat_seq: ({ message }) => message.chatSeq ?? "",
  sent_at: ({ message }) => new Date(message.sentAt).toISOString(),
  account_id: ({ message }) => message.accountId ?? "",
  name: ({ message }) => message.name,
  roles: ({ message }) => message.roles.join(" "),
  state: ({ message }) => message.state,
  muted: ({ message }) => message.muted,
  text: ({ message }) => message.text,
  original: ({ message }) => message.original,
  language: ({ message }) => message.language ?? "",
  reply_to: ({ message }) => message.replyTo ?? "",
  reactions: ({ message }) => JSON.stringify(message.reactions),
  reports: ({ reports }) => reports,
} satisfies Record<string, (row: ExportedMessage) => string | number | boolean>;

/** The room's log, in the order in which messages were stored: CSV with a header, or one JSON object per line. */
export async function exportRoom(ctx: Ctx, channelId: string, format: "csv" | "jsonl"): Promise<AsyncGenerator<string, void>> {
  await requireChannelAccess(ctx, channelId, () => true);
  await requireChatModerator(ctx, channelId, "read");
  return format === "csv" ? csvOf(rowsOf(ctx, channelId)) : jsonLinesOf(rowsOf(ctx, channelId));
}

async function* csvOf(pages: AsyncGenerator<ExportedMessage[], void>): AsyncGenerator<string, void> {
  yield csvLine(Object.keys(COLUMNS));
  for await (const page of pages) yield page.map((row) => csvLine(Object.values(COLUMNS).map((column) => column(row)))).join("");
}

async function* jsonLinesOf(pages: AsyncGenerator<ExportedMessage[], void>): AsyncGenerator<string, void> {
  for await (const page of pages)
    yield page
      .map(({ message, reports }) => `${JSON.stringify({ ...toChatMessage(message, { moderator: true, language: null }), reports })}\n`)
      .join("");
}

async function* rowsOf(ctx: Ctx, channelId: string): AsyncGenerator<ExportedMessage[], void> {
  for (let after = 0; ;) {
    // Whoever loses the role meanwhile gets no further page.
    if (after > 0) await requireStillAllowed(ctx, (actor) => mayStillExport(actor, channelId));
    const page = await fromRoom(ownRoom(ctx, channelId).exported(after, PAGE));
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.stored;
  }
}

function mayStillExport(actor: Actor, channelId: string): boolean {
  if (actor.kind === "developer") return keyAllows(actor.roles, "chat", "read");
  return mayModerate(actor, "Chat_Moderator", channelId, "read");
}
