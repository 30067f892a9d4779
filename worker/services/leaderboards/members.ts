import { eq } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import type { Standing } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { ownRows } from "#worker/services/core/context.ts";
import { boardsOf } from "./paying.ts";
import type { Rank } from "./schemas.ts";

// The people on a leaderboard: their names, and what follows when they hide, rename or delete their account.

/** For how long after its end viewers may still see a board that they received (ms): new viewers get states of the last hour. */
const ON_SCREEN_MS = 3_600_000;

export interface Person {
  id: string;
  name: string;
  hidden: boolean;
}

/** Selects the accounts' current names, in one statement for any number of them. */
export function selectPeople(db: Db, siteId: string, accountIds: string[]) {
  return db
    .select({ id: accounts.id, name: accounts.name, hidden: accounts.leaderboardHidden })
    .from(accounts)
    .where(ownRows({ siteId }, accounts, accountIds));
}

/** The ids of those whose account wasn't deleted when the board last heard of it. */
export function idsOf(standings: Standing[]): string[] {
  return standings.flatMap(({ accountId }) => accountId ?? []);
}

/** The standings as others see them: a hidden or deleted account keeps its rank, without name and id. */
export function toRanks(standings: Standing[], people: Person[]): z.output<typeof Rank>[] {
  const byId = new Map(people.map((person) => [person.id, person]));
  return standings.map(({ rank, accountId, points }) => {
    const person = accountId === null ? undefined : byId.get(accountId);
    const shown = person?.hidden === false ? person : undefined;
    return { rank, accountId: shown?.id ?? null, name: shown?.name ?? null, points };
  });
}

/** Removes a deleted account from all leaderboards of the site; its points stay, without a name. Idempotent. */
export async function eraseFromLeaderboards(env: Env, siteId: string, accountId: string): Promise<void> {
  const rows = await siteDb(env, siteId).select({ id: leaderboards.id }).from(leaderboards).where(eq(leaderboards.siteId, siteId));
  await Promise.all(rows.map(({ id }) => leaderboardOf(env, siteId, id).erase(accountId)));
}

/** Updates the names on screens after an account was renamed, hidden or shown: those of boards that are still shown. Idempotent. */
export async function showAccountChange(env: Env, siteId: string, accountId: string): Promise<void> {
  const since = Date.now() - ON_SCREEN_MS;
  const boards = (await boardsOf(env, siteId)).filter(({ endsAt }) => endsAt === null || endsAt > since);
  await Promise.all(boards.map(({ id }) => leaderboardOf(env, siteId, id).accountChanged(accountId)));
}
