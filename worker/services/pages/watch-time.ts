import { and, eq, lt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { watchTime } from "#db/schema/index.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** Milliseconds for which whoever has asked for a page may have watched it without asking again; a longer silence counts as these. */
const PAUSE = 90_000;

/** How long a preview stays used up, ms: 90 days. */
const KEPT = 90 * 86_400_000;

export type WatchTime = Pick<typeof watchTime.$inferSelect, "seconds" | "modified">;

/** Who watches: the account where somebody is signed in, else the device. */
export function viewerOf(accountId: string | undefined, deviceId: string): string {
  return accountId === undefined ? `device:${deviceId}` : `account:${accountId}`;
}

/** Seconds that have been watched up to now. */
export function watchedUntil(now: number, known: WatchTime | undefined): number {
  return known ? known.seconds + fresh(now, known.modified) : 0;
}

/** Notes that a viewer watches a page: what has passed since the viewer last asked is watched, up to the length of a pause. */
export function noteWatching(ctx: Ctx, pageId: string, viewer: string): BatchItem<"sqlite"> {
  // D1 binds numbers as floats, whose division would leave fractions.
  const passed = sql`cast(${ctx.now} - ${watchTime.modified} as integer)`;
  // Whole seconds alone are counted, and the rest is left to the next time: who asks often gains nothing.
  const seconds = sql`cast(max(0, min(${passed}, ${PAUSE})) as integer) / 1000`;
  return ctx.db
    .insert(watchTime)
    .values({ siteId: ctx.siteId, pageId, viewer, seconds: 0, modified: ctx.now })
    .onConflictDoUpdate({
      target: [watchTime.siteId, watchTime.pageId, watchTime.viewer],
      set: {
        seconds: sql`${watchTime.seconds} + (${seconds})`,
        modified: sql`case when ${passed} > ${PAUSE} then ${ctx.now} else ${watchTime.modified} + 1000 * (${seconds}) end`,
      },
    });
}

/** Forgets what has not been watched for long. */
export async function pruneWatchTime({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(watchTime).where(lt(watchTime.modified, now - KEPT));
}

/** What is kept of a page, for the batch that deletes it. */
export function forgetWatchTimeOfPage(ctx: Ctx, pageId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(watchTime).where(and(eq(watchTime.siteId, ctx.siteId), eq(watchTime.pageId, pageId)));
}

/** What is kept of an account, for the batch that deletes it. */
export function forgetWatchTimeOfAccount(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(watchTime).where(and(eq(watchTime.siteId, ctx.siteId), eq(watchTime.viewer, viewerOf(accountId, ""))));
}

function fresh(now: number, modified: number): number {
  return Math.max(0, Math.floor(Math.min(now - modified, PAUSE) / 1000));
}
