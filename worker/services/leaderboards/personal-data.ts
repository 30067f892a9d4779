import { and, eq, gt } from "drizzle-orm";
import { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import { leaderboardOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { Person, PersonalData } from "#worker/services/core/personal-data.ts";

/** Leaderboards that are read from the database, and asked, at a time. */
const PAGE = 100;
const AT_ONCE = 20;
/** Awards per call. */
const AWARDS = 1_000;
const NO_RESPONSE = "The leaderboard did not respond";

export const leaderboardData: PersonalData[] = [
  {
    name: "leaderboards",
    area: "leaderboard",
    description: "Rank and points on each of the site's leaderboards",
    tables: [],
    pages: standingsOf,
  },
  { name: "awards", area: "leaderboard", description: "The awards that these points add up to", tables: [], pages: awardsOf },
];

type Board = { id: string; name: string };

async function* standingsOf(ctx: Ctx, { accountId }: Person): AsyncGenerator<object[], void> {
  for await (const boards of boardsOf(ctx))
    for (const some of inGroups(boards, AT_ONCE)) yield (await Promise.all(some.map((board) => standingOn(ctx, board, accountId)))).flat();
}

async function* awardsOf(ctx: Ctx, { accountId }: Person): AsyncGenerator<object[], void> {
  for await (const boards of boardsOf(ctx)) for (const { id } of boards) yield* awardsOn(ctx, id, accountId);
}

async function* awardsOn(ctx: Ctx, leaderboardId: string, accountId: string): AsyncGenerator<object[], void> {
  for (let after = ""; ;) {
    const page = await orUnavailable(leaderboardOf(ctx.env, ctx.siteId, leaderboardId).awardsOf(accountId, after, AWARDS), NO_RESPONSE);
    yield page.map(({ at, ...award }) => ({ leaderboardId, ...award, earned: at }));
    const last = page.at(-1);
    if (!last || page.length < AWARDS) return;
    after = last.cause;
  }
}

async function* boardsOf(ctx: Ctx): AsyncGenerator<Board[], void> {
  for (let after = ""; ;) {
    const boards = await ctx.db
      .select({ id: leaderboards.id, name: leaderboards.name })
      .from(leaderboards)
      .where(and(eq(leaderboards.siteId, ctx.siteId), gt(leaderboards.id, after)))
      .orderBy(leaderboards.id)
      .limit(PAGE);
    const last = boards.at(-1);
    if (!last) return;
    yield boards;
    after = last.id;
  }
}

async function standingOn(ctx: Ctx, { id, name }: Board, accountId: string): Promise<object[]> {
  const { own } = await orUnavailable(leaderboardOf(ctx.env, ctx.siteId, id).ranksAround(accountId, 0), NO_RESPONSE);
  return own ? [{ leaderboardId: id, name, rank: own.rank, points: own.points }] : [];
}
