import type { QuestRow } from "#db/schema/index.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { isSiteAdmin, managesPage } from "#worker/lib/roles.ts";
import { Failure } from "#worker/lib/errors.ts";

/** Tells of which quests the caller may see what is for the site's own systems: an admin of the site, or of one of their channels. */
export async function questManager(ctx: Ctx): Promise<(quest: QuestRow) => boolean> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "read")) return () => true;
  return ({ channelIds }) => channelIds.some((channelId) => managesPage(actor.roles, channelId, "read"));
}

/** A 400 unless the caller is admin of each of these channels; of a quest of the whole site, where there are none, a site admin. */
export async function requireChannelAdmin(ctx: Ctx, channelIds: string[]): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "write")) return;
  if (channelIds.length === 0 || !channelIds.every((channelId) => managesPage(actor.roles, channelId, "write")))
    throw new Failure("channel_admin_required");
}
