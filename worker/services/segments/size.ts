import { z } from "@hono/zod-openapi";
import { orUnavailable, presenceOf } from "#worker/durable-objects/stubs.ts";
import { notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { getSite } from "#worker/services/sites/current-site.ts";
import { countMatching } from "./accounts.ts";
import { type SegmentSize, UserSegment } from "./schemas.ts";

const Stored = z.record(z.string(), z.unknown());

/** A segment of the site. */
export async function readSegment(ctx: Ctx, slug: string): Promise<z.output<typeof UserSegment>> {
  const { settings } = await getSite(ctx);
  const stored = Stored.safeParse(settings["userSegments"]).data ?? {};
  const { data: segment } = UserSegment.safeParse(Object.hasOwn(stored, slug) ? stored[slug] : undefined);
  if (!segment) throw notFound("Segment not found");
  return segment;
}

/** How many accounts and open sockets are in a segment now. */
export async function segmentSize(ctx: Ctx, slug: string): Promise<SegmentSize> {
  const segment = await readSegment(ctx, slug);
  const [accountCount, byChannel] = await Promise.all([
    countMatching(ctx, segment.filter),
    orUnavailable(presenceOf(ctx.env, ctx.siteId).segmentViewers(slug), "The open viewers can't be counted now; try again"),
  ]);
  const channels = [...byChannel].flatMap(([_id, viewers]) => (viewers > 0 ? [{ _id, viewers }] : []));
  const viewers = channels.reduce((sum, channel) => sum + channel.viewers, 0);
  return { slug, name: segment.name, accounts: accountCount, viewers, channels };
}
