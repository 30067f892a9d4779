import { and, eq, gt } from "drizzle-orm";
import { leaderboards } from "#db/schema/leaderboards.ts";
import { leaderboardOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { Person, PersonalData } from "#worker/services/core/personal-data.ts";

/** Leaderboards that are read from the database, and asked, at a time. */
const PAGE = 100;
const AT_ONCE = 20;

export const leaderboardData: PersonalData[] = [
  {
    name: "leaderboards",
    area: "leaderboard",
    description: "Rank and points on each of the site's leaderboards; the awards behind them are in the board's export",
    tables: [],
    pages: standingsOf,
  },
];

async function* standingsOf(ctx: Ctx, { accountId }: Person): AsyncGenerator<object[], void> {
  for (let after = ""; ;) {
    const boards = await ctx.db
      .select({ id: leaderboards.id, name: leaderboards.name })
      .from(leaderboards)
      .where(and(eq(leaderboards.siteId, ctx.siteId), gt(leaderboards.id, after)))
      .orderBy(leaderboards.id)
      .limit(PAGE);
    const last = boards.at(-1);
    if (!last) return;
    for (const some of inGroups(boards, AT_ONCE)) yield (await Promise.all(some.map((board) => standingOn(ctx, board, accountId)))).flat();
    after = last.id;
  }
}

async function standingOn(ctx: Ctx, { id, name }: { id: string; name: string }, accountId: string): Promise<object[]> {
  const { own } = await orUnavailable(leaderboardOf(ctx.env, ctx.siteId, id).ranksAround(accountId, 0), "The leaderboard did not respond");
  return own ? [{ leaderboardId: id, name, rank: own.rank, points: own.points }] : [];
}
