import { and, eq, lt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { siteDb } from "#db/databases.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { payForMinutes, type PayingBoard, selectPaying } from "#worker/services/leaderboards/paying.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** How long viewer activity is kept, ms: 400 days, longer than a season. */
const KEPT = 400 * 86_400_000;

/** Rows per statement: their JSON stays far below D1's limit. */
const ROWS = 1_000;

/** One account's uninterrupted activity on one video, channel or panel. Times in ms, `seconds` of real time. */
export type Activity = Omit<typeof viewerActivity.$inferSelect, "siteId" | "accountId" | "startMinute">;

/** The same with its account; possibly only a part of it, uninterrupted since `since`. */
export type Seen = Omit<typeof viewerActivity.$inferSelect, "siteId" | "startMinute"> & {
  since: number;
  /** The minutes since 1970 in which a whole minute of watching ended. */
  minutes?: number[];
};

/** All recorded activity of an account on the site. Current activity is a few seconds behind. */
export function activityOf(ctx: Pick<Ctx, "db" | "siteId">, accountId: string): Promise<Activity[]> {
  const { kind, targetId, channelId, seconds, firstAt, lastAt } = viewerActivity;
  return ctx.db
    .select({ kind, targetId, channelId, seconds, firstAt, lastAt })
    .from(viewerActivity)
    .where(and(eq(viewerActivity.siteId, ctx.siteId), eq(viewerActivity.accountId, accountId)));
}

/**
 * Adds activity. Counts only the seconds before or after the time already recorded, so a retry adds nothing, two screens of one account
 * count once, and parts may arrive in any order. Ignores deleted accounts.
 */
export async function recordActivity(env: Env, siteId: string, seen: Seen[]): Promise<void> {
  for (let from = 0; from < seen.length; from += ROWS) await recordPage(env, siteId, seen.slice(from, from + ROWS));
}

/** The leaderboards that pay for watching are read in the round trip that writes the rows. */
async function recordPage(env: Env, siteId: string, seen: Seen[]): Promise<void> {
  const db = siteDb(env, siteId);
  const rows = seen.map(({ minutes: _, ...row }) => row);
  const insert = db
    .insert(viewerActivity)
    .select(
      // Columns in the table's order.
      sql`select ${siteId}, seen.value ->> 'accountId', seen.value ->> 'kind', seen.value ->> 'targetId', seen.value ->> 'channelId',
          cast(seen.value ->> 'since' as integer) / 60000, seen.value ->> 'seconds', seen.value ->> 'firstAt', seen.value ->> 'lastAt'
          from json_each(${JSON.stringify(rows)}) as seen
          join accounts on accounts.id = seen.value ->> 'accountId' and accounts.site_id = ${siteId} where true`,
    )
    .onConflictDoUpdate({
      target: [
        viewerActivity.siteId,
        viewerActivity.accountId,
        viewerActivity.kind,
        viewerActivity.targetId,
        viewerActivity.channelId,
        viewerActivity.startMinute,
      ],
      set: {
        seconds: sql`seconds + min(excluded.seconds, (max(0, first_at - excluded.first_at) + max(0, excluded.last_at - last_at)) / 1000.0)`,
        firstAt: sql`min(first_at, excluded.first_at)`,
        lastAt: sql`max(last_at, excluded.last_at)`,
      },
    });
  const watched = seen.filter(({ minutes = [] }) => minutes.length > 0);
  if (watched.length === 0) return void (await insert);
  const [, boards] = await db.batch([insert, selectPaying(db, siteId, "minute.watched")]);
  await payForWatching(env, siteId, boards, watched);
}

/** Channel by channel, because a leaderboard may count only some. */
async function payForWatching(env: Env, siteId: string, boards: PayingBoard[], watched: Seen[]): Promise<void> {
  if (boards.length === 0) return;
  for (const [channelId, rows] of Map.groupBy(watched, (row) => row.channelId)) {
    const minutes = rows.flatMap(({ accountId, minutes: each = [] }) =>
      each.map((minute): [accountId: string, minute: number] => [accountId, minute]),
    );
    await payForMinutes(env, siteId, boards, minutes, [channelId]);
  }
}

/** Deletes activity past its retention. */
export async function pruneActivity({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(viewerActivity).where(lt(viewerActivity.lastAt, now - KEPT));
}

/** Deletes an account's activity, as part of the batch that deletes the account. */
export function deleteActivity(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db.delete(viewerActivity).where(and(eq(viewerActivity.siteId, ctx.siteId), eq(viewerActivity.accountId, accountId)));
}
