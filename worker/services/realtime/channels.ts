import { and, eq } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { parseSegments } from "#worker/services/segments/membership.ts";
import { issueTicket, type KnownChannel } from "./realtime.ts";
import { segmentColumns, versionedGate } from "./rights.ts";

/** The gate of a channel and the segments of its site; null if the site has no such channel. */
export async function findChannel(ctx: Ctx, channelId: string): Promise<KnownChannel | null> {
  const [page] = await ctx.db
    .select({ version: pages.version, data: pages.data, ...segmentColumns(ctx.siteId) })
    .from(pages)
    .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel")));
  return page ? { gate: versionedGate(page), site: { version: page.siteVersion, segments: parseSegments(page.segments) } } : null;
}

const ANONYMOUS = { accountId: null, sessionId: null, tags: [] };

/** Issues a ticket for the caller's socket, so that no access token appears in a URL. */
export async function createTicket(ctx: Ctx, channelId: string): Promise<{ ticket: string; expiresAt: number }> {
  if (!(await findChannel(ctx, channelId))) throw notFound("Channel not found");
  const actor = await ctx.caller();
  const isAccount = actor.kind === "account";
  const viewer = isAccount ? { accountId: actor.id, sessionId: actor.sessionId, tags: actor.tags } : ANONYMOUS;
  return issueTicket(ctx.env, { siteId: ctx.siteId, channelId, ...viewer }, ctx.now);
}
