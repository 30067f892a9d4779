import { and, asc, eq, gt, gte, lt, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import type { Responder, Settlement } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";

/** The next accounts that responded to a settled poll, and whether one of their responses is correct. */
export async function readResponders(
  env: Env,
  siteId: string,
  { pollId, answerId, startsAt, endsAt }: Settlement,
  after: string,
  limit: number,
): Promise<Responder[]> {
  const rows = await siteDb(env, siteId)
    .select({ accountId: pollResponses.accountId, correct: sql<number>`max(${pollResponses.answerId} = ${answerId})`.as("correct") })
    .from(pollResponses)
    .where(
      and(
        eq(pollResponses.siteId, siteId),
        eq(pollResponses.pollId, pollId),
        gt(pollResponses.accountId, after),
        startsAt === null ? undefined : gte(pollResponses.created, startsAt),
        endsAt === null ? undefined : lt(pollResponses.created, endsAt),
      ),
    )
    .groupBy(pollResponses.accountId)
    .orderBy(asc(pollResponses.accountId))
    .limit(limit);
  return rows.map(({ accountId, correct }) => ({ accountId, correct: correct === 1 }));
}
