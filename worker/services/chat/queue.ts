import { and, eq } from "drizzle-orm";
import { chatRooms } from "#db/schema/index.ts";
import type { PendingMessage, QueuePlace } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import { invalid } from "#worker/lib/errors.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { channelsModeratedBy } from "#worker/services/core/moderators.ts";
import { fromRoom } from "./rooms.ts";

export interface QueuePage {
  entries: (PendingMessage & { channelId: string })[];
  next: string | null;
}

/** The held and reported messages of the channels that the caller moderates, longest waiting first. */
export async function listQueue(
  ctx: Ctx,
  { limit, cursor, channelIds }: { limit: number; cursor?: string | undefined; channelIds?: string[] | undefined },
): Promise<QueuePage> {
  const after = parseCursor(cursor);
  const moderated = await channelsModeratedBy(ctx, "Chat_Moderator", "read");
  const rooms = await ctx.db
    .select({ id: chatRooms.id })
    .from(chatRooms)
    .where(
      and(
        eq(chatRooms.siteId, ctx.siteId),
        eq(chatRooms.pending, true),
        moderated === "all" ? undefined : idIn(chatRooms.id, moderated),
        channelIds === undefined ? undefined : idIn(chatRooms.id, channelIds),
      ),
    );
  const pending = await Promise.all(
    rooms.map(async ({ id: channelId }) => {
      const found = await fromRoom(chatRoomOf(ctx.env, ctx.siteId, channelId).pending(after, limit + 1));
      return found.map((entry) => ({ ...entry, channelId }));
    }),
  );
  const sorted = pending.flat().sort((one, other) => one.at - other.at || (one.message.id < other.message.id ? -1 : 1));
  const entries = sorted.slice(0, limit);
  const last = entries.at(-1);
  return { entries, next: sorted.length > limit && last ? `${last.at}:${last.message.id}` : null };
}

function parseCursor(cursor: string | undefined): QueuePlace {
  if (cursor === undefined) return { at: 0, id: "" };
  const [at, id = ""] = cursor.split(":");
  if (!/^\d{1,15}$/.test(at ?? "") || !ID_PATTERN.test(id)) throw invalid("cursor", "Not a cursor of this list");
  return { at: Number(at), id };
}
