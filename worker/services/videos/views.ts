import { eq, lt, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { videos, videoTotals, videoViews } from "#db/schema/videos.ts";
import { viewCounterOf } from "#worker/durable-objects/stubs.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow, ownRows } from "#worker/services/core/context.ts";

/** A device counts once per video within this time. */
const HOUR_MS = 3_600_000;

/** A view by a device; `at` in milliseconds since 1970 UTC. */
export interface View {
  device: string;
  at: number;
}

/** Counts a view by the caller's device, unless it was already counted within the hour. */
export async function recordView(ctx: Ctx, id: string): Promise<void> {
  const [video] = await ctx.db
    .select({ id: videos.id })
    .from(videos)
    .where(ownRow(ctx, videos, id));
  if (!video) throw notFound("Video not found");
  const device = (await sha256(`${id}:${ctx.deviceId ?? ""}`)).slice(0, 32);
  await viewCounterOf(ctx.env, id).count({ device, at: ctx.now }, ctx.siteId);
}

/** Writes any number of views of one video in one transaction; a view that is written twice counts once. */
export async function countViews(env: Env, siteId: string, videoId: string, views: View[]): Promise<void> {
  const db = siteDb(env, siteId);
  await db.batch([
    db.run(sql`insert into ${videoViews} (video_id, device, counted)
      select ${videoId}, json_extract(value, '$.device'), json_extract(value, '$.at') from json_each(${JSON.stringify(views)}) where true
      on conflict do update set counted = excluded.counted where counted <= excluded.counted - ${HOUR_MS}`),
    // changes() is the number of rows of the previous statement: devices that are new or back after an hour.
    db.run(sql`insert into ${videoTotals} (video_id, site_id, views)
      select id, site_id, changes() from ${videos} where id = ${videoId}
      on conflict do update set views = views + excluded.views`),
  ]);
}

/** A recording's number of views. Livestreams are only in the batch operation. */
export async function totalViews(ctx: Ctx, id: string): Promise<number> {
  const [video] = await ctx.db
    .select({ type: videos.type, views: videoTotals.views })
    .from(videos)
    .leftJoin(videoTotals, eq(videoTotals.videoId, videos.id))
    .where(ownRow(ctx, videos, id));
  if (!video) throw notFound("Video not found");
  if (video.type === "livestream") throw notFound("This is a livestream; get its views from GET /video/v3/stats/total-views-batch/{ids}");
  return video.views ?? 0;
}

/** The same for several videos of any type, in the requested order; omits those that the site doesn't have. */
export async function totalViewsOf(ctx: Ctx, ids: string[]): Promise<{ id: string; views: number }[]> {
  const found = await ctx.db
    .select({ id: videos.id, views: videoTotals.views })
    .from(videos)
    .leftJoin(videoTotals, eq(videoTotals.videoId, videos.id))
    .where(ownRows(ctx, videos, ids));
  const views = new Map(found.map((video) => [video.id, video.views ?? 0]));
  return ids.flatMap((id) => {
    const total = views.get(id);
    return total === undefined ? [] : [{ id, views: total }];
  });
}

/** Deletes devices that may be counted again anyway. */
export async function pruneViews(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(videoViews).where(lt(videoViews.counted, ctx.now - HOUR_MS));
}
