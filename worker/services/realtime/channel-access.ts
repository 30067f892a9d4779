import { and, eq } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { forbidden, notFound, unauthenticated } from "#worker/lib/errors.ts";
import { type Actor, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { ownerKey, readRights } from "./rights.ts";

/**
 * Throws unless the caller has access to the channel, by the rules of its realtime connection: 404 for an unknown channel, 401 for a
 * signed-out caller at a gate, 403 without the entitlement. Developer keys pass, and callers for whom `bypasses` is true.
 */
export async function requireChannelAccess(ctx: Ctx, channelId: string, bypasses: (actor: Actor) => boolean): Promise<Actor> {
  const [page] = await ctx.db
    .select({ data: pages.data })
    .from(pages)
    .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel")));
  if (!page) throw notFound("Channel not found");
  const actor = await ctx.caller();
  if (page.data.gate.type === "none" || actor.kind === "developer" || bypasses(actor)) return actor;
  if (actor.kind !== "account") throw unauthenticated("This channel requires a sign-in");
  const owner = { accountId: actor.id, sessionId: actor.sessionId };
  const { byOwner } = await readRights(ctx.env, { siteId: ctx.siteId, channelId }, [owner], ctx.now);
  const denial = byOwner.get(ownerKey(owner))?.denial;
  if (denial === null) return actor;
  throw denial === "forbidden" ? forbidden("This account has no entitlement to the channel") : unauthenticated("The session has ended");
}
