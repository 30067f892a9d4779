import { and, eq } from "drizzle-orm";
import { type ChatSettingsRow, chatSettings } from "#db/schema/engagement/chat.ts";
import type { RoomSettings } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { invalid, notFound, rerunOnDuplicate } from "#worker/lib/errors.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, nextVersion, requireMatch, whereVersion } from "#worker/services/core/context.ts";
import { requireChatModerator } from "#worker/services/core/moderators.ts";
import { skusAt } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import { readsAsModerator, requireReader } from "./messages.ts";
import { fromRoom, ownRoom } from "./rooms.ts";
import type { ChatSettingsInput } from "./schemas.ts";

export interface ReadSettings {
  settings: RoomSettings;
  moderator: boolean;
}

export async function getSettings(ctx: Ctx, channelId: string): Promise<ReadSettings> {
  const actor = await requireReader(ctx, channelId);
  return { settings: await readSettings(ctx, channelId), moderator: readsAsModerator(actor, channelId) };
}

/** Replaces a room's settings. Once this resolves, they apply. */
export async function replaceSettings(ctx: Ctx, channelId: string, input: ChatSettingsInput): Promise<ReadSettings> {
  await requireChannelAccess(ctx, channelId, () => true);
  await requireChatModerator(ctx, channelId);
  const room = ownRoom(ctx, channelId);
  const [current] = await ctx.db
    .select()
    .from(chatSettings)
    .where(and(eq(chatSettings.siteId, ctx.siteId), eq(chatSettings.id, channelId)));
  // What is pinned may have been removed since the settings were read; the room must still be paused at once.
  if (input.pinnedMessageId !== null && input.pinnedMessageId !== current?.pinnedMessageId) {
    const pinned = await fromRoom(room.message(input.pinnedMessageId));
    if (pinned?.state !== "visible" || pinned.chatSeq === null) throw invalid("pinnedMessageId", "Not a visible message of the room");
  }
  const eventIds = await write(ctx, channelId, input, current);
  await fromRoom(room.refresh());
  ctx.emitted.completedEventIds.push(...eventIds);
  return { settings: await readSettings(ctx, channelId), moderator: true };
}

function write(ctx: Ctx, channelId: string, input: ChatSettingsInput, current: ChatSettingsRow | undefined): Promise<string[]> {
  const stamps = current
    ? { ...current, ...nextVersion(ctx, current) }
    : { siteId: ctx.siteId, created: ctx.now, modified: ctx.now, version: 1 };
  const next: ChatSettingsRow = { ...stamps, ...input, id: channelId };
  const event: NewEvent<"chat.settingsUpdated"> = {
    type: "chat.settingsUpdated",
    resource: `chat/${channelId}`,
    data: { _id: channelId, ...input, created: next.created, modified: next.modified },
  };
  if (!current) requireMatch(ctx, { version: 0 });
  const references = newReferences(skusAt("skus", input.skus), skusAt("skus", current?.skus ?? []));
  if (!current)
    return rerunOnDuplicate("chat_settings.id", () => commitReferencing(ctx, references, ctx.db.insert(chatSettings).values(next), event));
  const change = ctx.db
    .update(chatSettings)
    .set(next)
    .where(and(whereVersion(ctx, chatSettings, current), referencesExist(ctx, references)));
  return withReferences(ctx, references, () => commitIfUnchanged(ctx, change, event));
}

async function readSettings(ctx: Ctx, channelId: string): Promise<RoomSettings> {
  const settings = await fromRoom(ownRoom(ctx, channelId).settings());
  if (!settings) throw notFound("Channel not found");
  return settings;
}
