import { and, eq, sql } from "drizzle-orm";
import { watchTime } from "../../db/schema/index.ts";
import { batchAll, type Ctx } from "./context.ts";

/** Who watches: the account where somebody is signed in, else the device. */
export function viewerOf(accountId: string | undefined, deviceId: string): string {
  return accountId === undefined ? `device:${deviceId}` : `account:${accountId}`;
}

/** Adds what has been seen of a page; previews are used up by it. */
export async function addWatchTime(ctx: Ctx, pageId: string, watched: { viewer: string; seconds: number }[]): Promise<void> {
  const insert = watched.map(({ viewer, seconds }) =>
    ctx.db
      .insert(watchTime)
      .values({ siteId: ctx.siteId, pageId, viewer, seconds, modified: ctx.now })
      .onConflictDoUpdate({
        target: [watchTime.siteId, watchTime.pageId, watchTime.viewer],
        set: { seconds: sql`${watchTime.seconds} + excluded.seconds`, modified: ctx.now },
      }),
  );
  await batchAll(ctx.db, insert);
}

/** What is kept of a page, for the batch that deletes it. */
export function forgetWatchTimeOfPage(ctx: Ctx, pageId: string) {
  return ctx.db.delete(watchTime).where(and(eq(watchTime.siteId, ctx.siteId), eq(watchTime.pageId, pageId)));
}

/** What is kept of an account, for the batch that deletes it. */
export function forgetWatchTimeOfAccount(ctx: Ctx, accountId: string) {
  return ctx.db.delete(watchTime).where(and(eq(watchTime.siteId, ctx.siteId), eq(watchTime.viewer, viewerOf(accountId, ""))));
}
