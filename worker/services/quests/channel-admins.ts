import type { QuestRow } from "#db/schema/engagement/quests.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { isSiteAdmin, managesPage } from "#worker/lib/roles.ts";
import { Failure } from "#worker/lib/errors.ts";

/** Returns whether the caller may see a quest's internal fields: an admin of the site, or of one of the quest's channels. */
export async function questManager(ctx: Ctx): Promise<(quest: QuestRow) => boolean> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "read")) return () => true;
  return ({ channelIds }) => channelIds.some((channelId) => managesPage(actor.roles, channelId, "read"));
}

/** Throws a 400 unless the caller administers each of these channels or, if there are none, the whole site. */
export async function requireChannelAdmin(ctx: Ctx, channelIds: string[]): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "write")) return;
  if (channelIds.length === 0 || !channelIds.every((channelId) => managesPage(actor.roles, channelId, "write")))
    throw new Failure("channel_admin_required");
}
