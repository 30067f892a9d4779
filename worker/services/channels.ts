import { and, eq } from "drizzle-orm";
import { pages } from "../../db/schema/index.ts";
import { notFound } from "../lib/errors.ts";
import { type Ctx, ownRow } from "./context.ts";
import { passesGate } from "./entitlements.ts";
import { type ChannelAccess, type Gatekeeper, issueTicket } from "./realtime.ts";

/** Who is let into a channel's realtime, and how that is looked up. */
export function gatekeeperOf(ctx: Ctx, channelId: string): Gatekeeper {
  return {
    load: () => findGate(ctx, channelId),
    passes: (accountId, gate) => passesGate(ctx, accountId, { id: channelId, gate }),
  };
}

/** The gate of a channel; null where the site has no such channel. */
async function findGate(ctx: Ctx, channelId: string): Promise<ChannelAccess | null> {
  const [page] = await ctx.db
    .select({ data: pages.data })
    .from(pages)
    .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel")));
  return page ? { gate: page.data.gate } : null;
}

/** A ticket for the caller's socket: no token of theirs stands in a URL. */
export async function createTicket(ctx: Ctx, channelId: string): Promise<{ ticket: string; expiresAt: number }> {
  if (!(await findGate(ctx, channelId))) throw notFound("Channel not found");
  const actor = await ctx.caller();
  const viewer = actor.kind === "account" ? { accountId: actor.id, tags: actor.tags } : { accountId: null, tags: [] };
  return issueTicket(ctx.env, { siteId: ctx.siteId, channelId, ...viewer }, ctx.now);
}
