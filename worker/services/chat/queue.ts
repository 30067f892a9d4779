import { and, eq, type SQL, sql } from "drizzle-orm";
import { chatQueue } from "#db/schema/engagement/chat.ts";
import type { PendingMessage } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { invalid } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { channelsModeratedBy } from "#worker/services/core/moderators.ts";
import { fromRoom, ownRoom } from "./rooms.ts";

type QueueEntry = PendingMessage & { channelId: string };

export interface QueuePage {
  entries: QueueEntry[];
  next: string | null;
}

/**
 * The held and reported messages of the channels that the caller moderates, longest waiting first. The database knows which ones wait, so
 * that only the rooms of the page's messages are asked, at most one per message.
 */
export async function listQueue(
  ctx: Ctx,
  { limit, cursor, channelIds }: { limit: number; cursor?: string | undefined; channelIds?: string[] | undefined },
): Promise<QueuePage> {
  const after = parseCursor(cursor);
  const moderated = await channelsModeratedBy(ctx, "Chat_Moderator", "read");
  const found = await ctx.db
    .select({ id: chatQueue.id, channelId: chatQueue.channelId, since: chatQueue.since })
    .from(chatQueue)
    .where(
      and(
        eq(chatQueue.siteId, ctx.siteId),
        after,
        moderated === "all" ? undefined : idIn(chatQueue.channelId, moderated),
        channelIds === undefined ? undefined : idIn(chatQueue.channelId, channelIds),
      ),
    )
    .orderBy(chatQueue.since, chatQueue.id)
    .limit(limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? `${last.since}:${last.id}` : null;
  const entries = await readEntries(ctx, rows);
  return { entries: rows.flatMap(({ id }) => entries.get(id) ?? []), next };
}

/** The entries by message; those that have been decided on in the meantime are missing. */
async function readEntries(ctx: Ctx, rows: { id: string; channelId: string }[]): Promise<Map<string, QueueEntry>> {
  const byRoom = Map.groupBy(rows, ({ channelId }) => channelId);
  const pages = await Promise.all(
    [...byRoom].map(async ([channelId, waiting]) => {
      const pending = await fromRoom(ownRoom(ctx, channelId).queued(waiting.map(({ id }) => id)));
      return pending.map((entry) => ({ ...entry, channelId }));
    }),
  );
  return new Map(pages.flat().map((entry) => [entry.message.id, entry]));
}

function parseCursor(cursor: string | undefined): SQL | undefined {
  if (cursor === undefined) return undefined;
  const [since = "", id = ""] = cursor.split(":");
  if (!/^\d{1,15}$/.test(since) || !ID_PATTERN.test(id)) throw invalid("cursor", "Not a cursor of this list");
  return sql`(${chatQueue.since}, ${chatQueue.id}) > (${Number(since)}, ${id})`;
}
