import { and, asc, eq, isNull, lt, sql } from "drizzle-orm";
import { pollResponses, polls } from "#db/schema/engagement/polls.ts";
import { countersOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { deleteResponses } from "./counting.ts";
import { numberOf } from "#worker/lib/variables.ts";

const DAY_MS = 86_400_000;
/** A large poll takes seconds. */
const POLLS_PER_RUN = 5;

type ExpiredPoll = Pick<typeof polls.$inferSelect, "id" | "siteId" | "settled" | "version">;

/**
 * Deletes the responses of polls that have been closed and unchanged for longer than the retention. The tallies stay, without accounts. Of a
 * poll without an outcome, paid responses stay: they are refunded if it is deleted. Safe to repeat.
 */
export async function prunePollResponses({ env, db, now }: Pick<Ctx, "env" | "db" | "now">): Promise<void> {
  const days = numberOf(env, "TIFO_POLL_RETENTION_DAYS");
  if (days === 0) return;
  const expired = await db
    .select({ id: polls.id, siteId: polls.siteId, settled: polls.settled, version: polls.version })
    .from(polls)
    .where(and(sql`${polls.open} = 0`, isNull(polls.responsesPruned), lt(polls.modified, now - days * DAY_MS)))
    .orderBy(asc(polls.modified))
    .limit(POLLS_PER_RUN);
  for (const poll of expired) {
    try {
      await prunePoll({ env, db, now }, poll);
    } catch (error) {
      logError("poll_not_pruned", error, { siteId: poll.siteId, poll: poll.id });
    }
  }
}

/** The counters first: a deleted account is erased from the counters of the polls that have rows of it. */
async function prunePoll({ env, db, now }: Pick<Ctx, "env" | "db" | "now">, { id, siteId, settled, version }: ExpiredPoll): Promise<void> {
  for (const counter of countersOf(env, siteId, id)) while (await counter.anonymizeMore());
  await deleteResponses(env, siteId, id, settled === null ? eq(pollResponses.charged, 0) : undefined);
  // Not if it has been reopened in the meantime.
  await db
    .update(polls)
    .set({ responsesPruned: now })
    .where(and(eq(polls.id, id), eq(polls.siteId, siteId), eq(polls.version, version)));
}
