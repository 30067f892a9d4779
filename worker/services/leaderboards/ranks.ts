import { z } from "@hono/zod-openapi";
import { leaderboardOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { RankPosition } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { fromBase64Url, toBase64Url } from "#worker/lib/crypto/crypto.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import { callerAccount, type Ctx } from "#worker/services/core/context.ts";
import type { ListPage } from "#worker/services/core/listing.ts";
import { getLeaderboard, selectLeaderboard } from "./leaderboards.ts";
import { idsOf, selectPeople, toRanks } from "./members.ts";
import type { OwnRank, Rank, RankQuery } from "./schemas.ts";

const NO_RESPONSE = "The leaderboard did not respond";

const Cursor = z.tuple([z.number().int(), z.number().int()]);

/** A page of the ranks with the current names. */
export async function listRanks(ctx: Ctx, id: string, { limit, offset, cursor }: RankQuery): Promise<ListPage<z.output<typeof Rank>>> {
  const from = cursor === undefined ? { offset } : { after: readCursor(cursor) };
  await getLeaderboard(ctx, id);
  const page = await orUnavailable(leaderboardOf(ctx.env, ctx.siteId, id).ranks(from, limit), NO_RESPONSE);
  const people = await selectPeople(ctx.db, ctx.siteId, idsOf(page.standings));
  return {
    rows: toRanks(page.standings, people),
    totalCount: page.members,
    offset,
    sortBy: "rank",
    sortDirection: 1,
    searchFields: [],
    cursor: page.next ? writeCursor(page.next) : undefined,
  };
}

/** The caller's own rank with its neighbours; the caller sees its own name even if it is hidden from others. */
export async function ownRank(ctx: Ctx, id: string, neighbours: number): Promise<z.output<typeof OwnRank>> {
  const [leaderboard] = await selectLeaderboard(ctx, id);
  const { id: accountId } = await callerAccount(ctx);
  if (!leaderboard) throw notFound("Leaderboard not found");
  const around = await orUnavailable(leaderboardOf(ctx.env, ctx.siteId, id).ranksAround(accountId, neighbours), NO_RESPONSE);
  const people = await selectPeople(ctx.db, ctx.siteId, [accountId, ...idsOf([...around.before, ...around.after])]);
  const self = people.find((person) => person.id === accountId);
  return {
    rank: around.own?.rank ?? null,
    accountId,
    name: self?.name ?? "",
    points: around.own?.points ?? 0,
    hidden: self?.hidden ?? false,
    members: around.members,
    before: toRanks(around.before, people),
    after: toRanks(around.after, people),
  };
}

function writeCursor({ points, precedence }: RankPosition): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([points, precedence])));
}

function readCursor(text: string): RankPosition {
  try {
    const [points, precedence] = Cursor.parse(JSON.parse(new TextDecoder().decode(fromBase64Url(text))));
    return { points, precedence };
  } catch {
    throw invalid("cursor", "Must be the unchanged cursor from `pagination.next`");
  }
}
