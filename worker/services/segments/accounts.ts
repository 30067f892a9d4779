import { and, count, eq, type SQL } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import type { BeyondPoints } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { leaderboardOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { conditionsOf, type SegmentFilter } from "./filter.ts";
import { accountsMatching, areMembersMatched, isStored, pointsKey } from "./filter-sql.ts";

// The accounts in a segment.

/** The members of leaderboards that one statement can name: it has their ids in parameters, which D1 limits to 2 MB. */
export const MAX_MEMBERS = 50_000;

/** The accounts of the site that match, as a condition on `accounts`; null if they can't be selected, because of points of too many members. */
export async function selectMatching(ctx: Ctx, filter: SegmentFilter): Promise<SQL | null> {
  const lists = new Map<string, string[]>();
  let room = MAX_MEMBERS;
  for (const condition of conditionsOf(filter)) {
    if (condition.attribute !== "points" || lists.has(pointsKey(condition))) continue;
    const { accountIds } = await beyond(ctx, condition, room);
    if (accountIds === null) return null;
    lists.set(pointsKey(condition), accountIds);
    room -= accountIds.length;
  }
  return accountsMatching(filter, { siteId: ctx.siteId, now: ctx.now, beyond: lists });
}

/** Counts the matching accounts; null if they can't be selected, or the filter depends on more than what is stored about them. */
export async function countMatching(ctx: Ctx, filter: SegmentFilter): Promise<number | null> {
  if (!isStored(filter)) return null;
  if (filter.attribute === "points") return countByPoints(ctx, filter);
  const isMatch = await selectMatching(ctx, filter);
  return isMatch === null ? null : countAccounts(ctx, isMatch);
}

/** A condition on points alone is counted without its accounts, however many they are. */
async function countByPoints(ctx: Ctx, condition: SegmentFilter): Promise<number> {
  const { members } = await beyond(ctx, condition, 0);
  return areMembersMatched(condition) ? members : Math.max(0, (await countAccounts(ctx, undefined)) - members);
}

async function countAccounts(ctx: Ctx, isMatch: SQL | undefined): Promise<number> {
  const [counted] = await ctx.db
    .select({ total: count() })
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), isMatch));
  return counted?.total ?? 0;
}

function beyond(ctx: Ctx, { leaderboardId = "", value }: SegmentFilter, limit: number): Promise<BeyondPoints> {
  const points = typeof value === "number" ? value : 0;
  return orUnavailable(leaderboardOf(ctx.env, ctx.siteId, leaderboardId).beyond(points, limit), "The leaderboard did not respond");
}
