import { and, eq, lt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { watchTime } from "#db/schema/devices.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** The maximum watch time, in ms, that is assumed between two requests; a longer gap counts as this. */
const MAX_GAP = 90_000;

/** How long a used-up preview is remembered, in ms. */
const RETENTION = 90 * 86_400_000;

export type WatchTime = Pick<typeof watchTime.$inferSelect, "seconds" | "modified">;

/** The key of a viewer: the account if signed in, else the device. */
export function viewerOf(accountId: string | undefined, deviceId: string): string {
  return accountId === undefined ? `device:${deviceId}` : `account:${accountId}`;
}

/** Seconds watched up to now. */
export function watchedSeconds(now: number, known: WatchTime | undefined): number {
  return known ? known.seconds + secondsSince(now, known.modified) : 0;
}

/** Records that a viewer is watching a page: the time since the last request counts as watched, up to the maximum gap. */
export function recordWatching(ctx: Ctx, pageId: string, viewer: string): BatchItem<"sqlite"> {
  // D1 binds numbers as floats; without the cast, the division would not truncate.
  const elapsed = sql`cast(${ctx.now} - ${watchTime.modified} as integer)`;
  // Only whole seconds are counted and the remainder carries over, so frequent requests don't gain time.
  const seconds = sql`cast(max(0, min(${elapsed}, ${MAX_GAP})) as integer) / 1000`;
  return ctx.db
    .insert(watchTime)
    .values({ siteId: ctx.siteId, pageId, viewer, seconds: 0, modified: ctx.now })
    .onConflictDoUpdate({
      target: [watchTime.siteId, watchTime.pageId, watchTime.viewer],
      set: {
        seconds: sql`${watchTime.seconds} + (${seconds})`,
        modified: sql`case when ${elapsed} > ${MAX_GAP} then ${ctx.now} else ${watchTime.modified} + 1000 * (${seconds}) end`,
      },
    });
}

/** Deletes watch times that have expired. */
export async function pruneWatchTime({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(watchTime).where(lt(watchTime.modified, now - RETENTION));
}

/** Deletes a page's watch times, in the batch that deletes the page. */
export function deleteWatchTimeOfPage(ctx: Ctx, pageId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(watchTime).where(and(eq(watchTime.siteId, ctx.siteId), eq(watchTime.pageId, pageId)));
}

/** Deletes an account's watch times, in the batch that deletes the account. */
export function deleteWatchTimeOfAccount(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(watchTime).where(and(eq(watchTime.siteId, ctx.siteId), eq(watchTime.viewer, viewerOf(accountId, ""))));
}

function secondsSince(now: number, modified: number): number {
  return Math.max(0, Math.floor(Math.min(now - modified, MAX_GAP) / 1000));
}
