import { and, eq, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { notFound } from "#worker/lib/errors.ts";
import { SharedCache } from "#worker/lib/shared-cache.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";

const FRESH_MS = 2_000;
const Hosts = z.array(z.string());

/** What a manifest depends on, apart from the playlist and the broadcasts. */
interface ManifestChannel {
  isGated: boolean;
  /** The hosts that the site has allowed. */
  hosts: string[];
}

const channels = new SharedCache<ManifestChannel | null>({ max: 1_000, waitMs: 2_000, failedMs: 0 });

/** The channel, for a caller who has access to it: a 404 for an unknown one, a 401 or 403 by the rules of its connections. */
export async function requireManifestChannel(ctx: Ctx, channelId: string): Promise<ManifestChannel> {
  // What is wrong with this request's credentials must not fail those that share its load.
  await ctx.caller();
  const load = async () => ({ value: await readChannel(ctx, channelId), freshMs: FRESH_MS });
  const channel = await channels.get(`${ctx.siteId}/${channelId}`, load, (work) => ctx.defer(work));
  if (!channel) throw notFound("Channel not found");
  if (channel.isGated) await requireChannelAccess(ctx, channelId, () => false);
  return channel;
}

async function readChannel(ctx: Ctx, channelId: string): Promise<ManifestChannel | null> {
  const [row] = await ctx.db
    .select({ data: pages.data, hosts: sql<string | null>`json_extract(${sites.settings}, '$.manifest.hosts')`.as("hosts") })
    .from(pages)
    .innerJoin(sites, eq(sites.id, pages.siteId))
    .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel")));
  if (!row) return null;
  return { isGated: row.data.gate.type !== "none", hosts: Hosts.parse(JSON.parse(row.hosts ?? "[]")) };
}
