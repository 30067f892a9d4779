import { and, eq, sql } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { accounts, pollResponses, polls } from "#db/schema/index.ts";
import {
  type CountedVote,
  counterName,
  counterOf,
  POLL_COUNTERS,
  type PollDefinition,
} from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { Failure } from "#worker/lib/errors.ts";
import { withdrawTally } from "./audience.ts";

// Between a poll's row and its counters.

/** All counters of a poll. */
export function countersOf(env: Env, siteId: string, pollId: string) {
  return Array.from({ length: POLL_COUNTERS }, (_, counter) => counterAt(env, siteId, pollId, counter));
}

export function counterAt(env: Env, siteId: string, pollId: string, counter: number) {
  return env.POLL_COUNTER.getByName(counterName(siteId, pollId, counter));
}

export function definitionOf(row: typeof polls.$inferSelect): PollDefinition {
  const { version, open, hideResults, responsesPerViewer, answers, settled, correctAnswerId } = row;
  return { version, open, hideResults, responsesPerViewer, answers, correctAnswerId: settled === null ? null : correctAnswerId };
}

/** What the counters must know of a poll; undefined where the site has no such poll. */
export async function pollDefinition(env: Env, siteId: string, pollId: string): Promise<PollDefinition | undefined> {
  const [row] = await createDb(env.DB)
    .select()
    .from(polls)
    .where(and(eq(polls.siteId, siteId), eq(polls.id, pollId)));
  return row && definitionOf(row);
}

/**
 * Makes all counters count by this definition; of a closed poll the database has every vote when this resolves. Counter 0, which adds up,
 * comes last: it never tells of a state that another one has yet to reach.
 */
export async function defineEverywhere(env: Env, siteId: string, pollId: string, poll: PollDefinition): Promise<void> {
  const [first, ...others] = countersOf(env, siteId, pollId);
  await Promise.all(others.map((counter) => counter.define(poll)));
  await first?.define(poll);
}

/** Brings a poll's counters to what its row says, or empties them where it is gone; safe to repeat. */
export async function syncCounters(env: Env, siteId: string, pollId: string): Promise<void> {
  const poll = await pollDefinition(env, siteId, pollId);
  if (poll) return defineEverywhere(env, siteId, pollId, poll);
  await Promise.all(countersOf(env, siteId, pollId).map((counter) => counter.clear()));
  await withdrawTally(env, siteId, pollId, Date.now());
  await forgetResponses(env, siteId, pollId);
}

/**
 * Writes votes, any number in one statement; one that is written twice is there once. Answers the accounts that no longer exist, whose
 * votes aren't written.
 */
export async function writeVotes(env: Env, poll: { siteId: string; pollId: string }, votes: CountedVote[]): Promise<string[]> {
  const { siteId, pollId } = poll;
  const db = createDb(env.DB);
  const list = JSON.stringify(votes.map(({ accountId, n, answerId, created }) => [accountId, n, answerId, created]));
  const voters = sql`json_each(${list}) as vote left join ${accounts} on ${accounts.siteId} = ${siteId} and ${accounts.id} = json_extract(vote.value, '$[0]')`;
  const [, gone] = await db.batch([
    db.run(sql`insert or ignore into ${pollResponses} (site_id, poll_id, account_id, n, answer_id, created)
      select ${siteId}, ${pollId}, ${accounts.id}, json_extract(vote.value, '$[1]'), json_extract(vote.value, '$[2]'), json_extract(vote.value, '$[3]')
      from ${voters}
      where ${accounts.id} is not null and exists (select 1 from ${polls} where ${polls.siteId} = ${siteId} and ${polls.id} = ${pollId})`),
    db
      .select({ accountId: sql<string>`json_extract(vote.value, '$[0]')`.as("accountId") })
      .from(voters)
      .where(sql`${accounts.id} is null`),
  ]);
  return gone.map(({ accountId }) => accountId);
}

const PORTION = 5_000;

async function forgetResponses(env: Env, siteId: string, pollId: string): Promise<void> {
  const db = createDb(env.DB);
  const some = db
    .select({ rowid: sql`rowid` })
    .from(pollResponses)
    .where(and(eq(pollResponses.siteId, siteId), eq(pollResponses.pollId, pollId)))
    .limit(PORTION);
  for (let deleted = PORTION; deleted === PORTION;)
    deleted = (
      await db
        .delete(pollResponses)
        .where(sql`rowid in ${some}`)
        .returning({ n: pollResponses.n })
    ).length;
}

/** A 503 with this message where the counters don't answer. */
export async function orUnavailable<T>(asked: Promise<T>, message: string): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    throw new Failure("unavailable", message, { cause });
  }
}

/** Takes the name off the votes of an account that was deleted: in the database, and in the counters, whose tally stays. Safe to repeat. */
export async function forgetVoter(env: Env, siteId: string, accountId: string): Promise<void> {
  const db = createDb(env.DB);
  const own = and(eq(pollResponses.siteId, siteId), eq(pollResponses.accountId, accountId));
  const answered = await db.selectDistinct({ pollId: pollResponses.pollId }).from(pollResponses).where(own);
  for (const { pollId } of answered) await counterAt(env, siteId, pollId, counterOf(accountId)).anonymize(accountId);
  await db.delete(pollResponses).where(own);
}
