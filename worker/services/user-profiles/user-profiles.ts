import { and, eq } from "drizzle-orm";
import { type UserProfileRow, userProfiles } from "#db/schema/accounts.ts";
import { forbidden, notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

export async function getUserProfile(ctx: Ctx, id: string): Promise<UserProfileRow> {
  const [profile] = await ctx.db
    .select()
    .from(userProfiles)
    .where(ownRow(ctx, userProfiles, id));
  if (!profile) throw notFound("User profile not found");
  return profile;
}

/** The caller's own profile. */
export async function getOwnProfile(ctx: Ctx): Promise<UserProfileRow> {
  const actor = await ctx.caller();
  if (actor.kind !== "account") throw forbidden("Only accounts have a profile");
  const [profile] = await ctx.db
    .select()
    .from(userProfiles)
    .where(and(eq(userProfiles.siteId, ctx.siteId), eq(userProfiles.accountId, actor.id)));
  if (!profile) throw notFound("User profile not found");
  return profile;
}
