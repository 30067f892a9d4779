import { and, eq, type SQL, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { pollResponses, type PollRow, polls } from "#db/schema/engagement/polls.ts";
import { counterAt, countersOf } from "#worker/durable-objects/stubs.ts";
import {
  type CountedVote,
  counterName,
  counterOf,
  type PollDefinition,
} from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { addCounts, addVoters, type Counted, hourOf } from "#worker/services/insights/rollup.ts";
import { selectPaying } from "#worker/services/leaderboards/paying.ts";
import { withdrawTally } from "./audience.ts";

// Keeps a poll's row and its counters in sync.

export function definitionOf(row: typeof polls.$inferSelect): PollDefinition {
  const { version, open, hideResults, responsesPerViewer, responseCost, answers, locksAt, settled } = row;
  const correctAnswerId = settled === null ? null : row.correctAnswerId;
  return { version, open, hideResults, responsesPerViewer, responseCost, answers, locksAt, correctAnswerId };
}

/** The definition that the counters need; undefined if the site has no such poll. */
export async function pollDefinition(env: Env, siteId: string, pollId: string): Promise<PollDefinition | undefined> {
  const [row] = await siteDb(env, siteId)
    .select()
    .from(polls)
    .where(and(eq(polls.siteId, siteId), eq(polls.id, pollId)));
  return row && definitionOf(row);
}

/**
 * Applies the definition to all counters; once this resolves for a closed poll, the database has every vote. Counter 0, which sums,
 * comes last, so that it never publishes a state that another counter has yet to reach.
 */
export async function defineOnAllCounters(env: Env, siteId: string, pollId: string, poll: PollDefinition): Promise<void> {
  const [first, ...others] = countersOf(env, siteId, pollId);
  await Promise.all(others.map((counter) => counter.define(poll)));
  await first?.define(poll);
}

/** Syncs a poll's counters with its row, or clears them if the poll is deleted. Idempotent. */
export async function syncCounters(env: Env, siteId: string, pollId: string): Promise<void> {
  const poll = await pollDefinition(env, siteId, pollId);
  if (poll) return defineOnAllCounters(env, siteId, pollId, poll);
  await Promise.all(countersOf(env, siteId, pollId).map((counter) => counter.clear()));
  await withdrawTally(env, siteId, pollId, Date.now());
  // Those that were paid for are deleted with their refund.
  await deleteResponses(env, siteId, pollId, eq(pollResponses.charged, 0));
}

/** A vote with its position at its counter, and where it was cast (empty if unknown). */
export type PlacedVote = CountedVote & { seq: number; channelId: string };

/**
 * Writes any number of a counter's votes in one batch, idempotently, and counts them for the insights. Returns the accounts that no longer
 * exist, whose votes are not written, and whether leaderboards pay for votes.
 */
export async function writeVotes(
  env: Env,
  { siteId, pollId, counter }: { siteId: string; pollId: string; counter: number },
  votes: PlacedVote[],
): Promise<{ deleted: string[]; isPaid: boolean }> {
  const db = siteDb(env, siteId);
  const list = JSON.stringify(votes.map(({ accountId, n, answerId, created }) => [accountId, n, answerId, created]));
  const voters = sql`json_each(${list}) as vote left join ${accounts} on ${accounts.siteId} = ${siteId} and ${accounts.id} = json_extract(vote.value, '$[0]')`;
  const source = `poll:${counterName(siteId, pollId, counter)}`;
  const firstVotes = votes.filter(({ n }) => n === 1);
  const [, gone, paying] = await db.batch([
    db.run(sql`insert or ignore into ${pollResponses} (site_id, poll_id, account_id, n, answer_id, created)
      select ${siteId}, ${pollId}, ${accounts.id}, json_extract(vote.value, '$[1]'), json_extract(vote.value, '$[2]'), json_extract(vote.value, '$[3]')
      from ${voters}
      where ${accounts.id} is not null and exists (select 1 from ${polls} where ${polls.siteId} = ${siteId} and ${polls.id} = ${pollId})`),
    db
      .select({ accountId: sql<string>`json_extract(vote.value, '$[0]')`.as("accountId") })
      .from(voters)
      .where(sql`${accounts.id} is null`),
    selectPaying(db, siteId, "poll.answered"),
    addVoters(db, siteId, { source, pollId }, firstVotes.map(countOf)),
    ...addCounts(db, siteId, source, votes.map(countOf), Date.now()),
  ]);
  return { deleted: gone.map(({ accountId }) => accountId), isPaid: paying.length > 0 };
}

function countOf({ seq, channelId, created }: PlacedVote): Counted {
  return { position: seq, channelId, hour: hourOf(created), metric: "votes", value: 1 };
}

const CHUNK = 5_000;

/** Deletes a deleted poll's responses, or some of them. */
export async function deleteResponses(env: Env, siteId: string, pollId: string, condition?: SQL): Promise<void> {
  const db = siteDb(env, siteId);
  const chunk = db
    .select({ rowid: sql`rowid` })
    .from(pollResponses)
    .where(and(eq(pollResponses.siteId, siteId), eq(pollResponses.pollId, pollId), condition))
    .limit(CHUNK);
  for (let deleted = CHUNK; deleted === CHUNK;)
    deleted = (
      await db
        .delete(pollResponses)
        .where(sql`rowid in ${chunk}`)
        .returning({ n: pollResponses.n })
    ).length;
}

/** Erases a deleted account from its votes, in the database and in the counters; the tally stays. Idempotent. */
export async function anonymizeVoter(env: Env, siteId: string, accountId: string): Promise<void> {
  const db = siteDb(env, siteId);
  const own = and(eq(pollResponses.siteId, siteId), eq(pollResponses.accountId, accountId));
  const answered = await db.selectDistinct({ pollId: pollResponses.pollId }).from(pollResponses).where(own);
  for (const { pollId } of answered) await counterAt(env, siteId, pollId, counterOf(accountId)).anonymize(accountId);
  await db.delete(pollResponses).where(own);
}

/** How long closing a poll may take at most. */
const CLOSING_MS = 60_000;

/** Whether a poll's counters may have votes that the database hasn't: while it is open, and until they have all been told that it is closed. */
export function mayHaveUnwritten({ open, modified }: Pick<PollRow, "open" | "modified">, now: number): boolean {
  return open || now - modified < CLOSING_MS;
}
