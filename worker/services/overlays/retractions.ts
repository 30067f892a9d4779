import { and, eq, gt, inArray, isNull } from "drizzle-orm";
import { broadcasts } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { channelOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import { notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { commit, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { LATE, markCleared, SITE_WIDE } from "./broadcasts.ts";

/** The data of a retraction's event: enough to send it again if the request fails between commit and delivery. */
export interface RetractionEvent {
  retractionId: string;
  channelId: string;
  broadcastId: string;
}

/** Removes a broadcast that was a mistake from a channel's screens, and from its recording, whenever it was sent. */
export async function retractBroadcast(ctx: Ctx, channelId: string, broadcastId: string): Promise<void> {
  const onChannel = and(eq(broadcasts.siteId, ctx.siteId), inArray(broadcasts.channelId, [channelId, SITE_WIDE]));
  const [[channel], active] = await ctx.db.batch([
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel"))),
    ctx.db
      .select({ id: broadcasts.id })
      .from(broadcasts)
      .where(and(eq(broadcasts.id, broadcastId), onChannel, isNull(broadcasts.clearedAt), gt(broadcasts.endsAt, ctx.now))),
  ]);
  if (!channel) throw notFound("Channel not found");
  const isKnown = active.length > 0 || (await orUnavailable(channelOf(ctx.env, ctx.siteId, channelId).has(broadcastId), LATE));
  if (!isKnown) throw notFound("The channel has no broadcast with this id");
  const data: RetractionEvent = { retractionId: newId(ctx.now), channelId, broadcastId };
  const event = { type: "overlay.retracted", resource: `page/${channelId}`, data: { ...data } } as const;
  const eventIds = await commit(ctx, markCleared(ctx, channelId, broadcastId), event);
  await orUnavailable(sendRetraction(ctx.env, ctx.siteId, data), LATE);
  ctx.emitted.completedEventIds.push(...eventIds);
}

/** Sends a committed retraction to its channel. Idempotent. */
export async function sendRetraction(env: Env, siteId: string, { retractionId, channelId, broadcastId }: RetractionEvent): Promise<void> {
  await channelOf(env, siteId, channelId).retract({ id: retractionId, broadcastId });
}
