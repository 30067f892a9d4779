import { type SQL, sql } from "drizzle-orm";
import { type QuestRow, quests } from "#db/schema/engagement/quests.ts";
import { channelsOfCaller, type Ctx } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { isSiteAdmin, managesPage } from "#worker/lib/roles.ts";
import { Failure } from "#worker/lib/errors.ts";

/** Returns whether the caller may see a quest's internal fields: an admin of the site, or of one of the quest's channels. */
export async function questManager(ctx: Ctx): Promise<(quest: QuestRow) => boolean> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "read")) return () => true;
  return ({ channelIds }) => channelIds.some((channelId) => managesPage(actor.roles, channelId, "read"));
}

/** The condition that the caller may see a quest's internal fields, for lists that are filtered by one; undefined for all quests. */
export async function isManaged(ctx: Ctx): Promise<SQL | undefined> {
  const own = await channelsOfCaller(ctx);
  if (own === "all") return undefined;
  return sql`exists (select 1 from json_each(${quests.channelIds}) as channel where ${idIn(sql`channel.value`, own)})`;
}

/** Throws a 400 unless the caller administers each of these channels or, if there are none, the whole site. */
export async function requireChannelAdmin(ctx: Ctx, channelIds: string[]): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "write")) return;
  if (channelIds.length === 0 || !channelIds.every((channelId) => managesPage(actor.roles, channelId, "write")))
    throw new Failure("channel_admin_required");
}
