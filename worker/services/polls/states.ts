import { type PollRow, polls } from "#db/schema/engagement/polls.ts";
import { counterAt, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { Tally } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { logError } from "#worker/lib/log.ts";
import { SHARED_WAIT_MS, SharedCache } from "#worker/lib/shared-cache.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { type Ctx, isManager, ownRows } from "#worker/services/core/context.ts";
import { definitionOf, mayHaveUnwritten } from "./counting.ts";
import { getPoll, isInsider } from "./polls.ts";
import { resultsOf } from "./results.ts";
import { type PollState, toOwnResponse, toPoll } from "./schemas.ts";
import { selectOwnResponses, withUnwritten } from "./votes.ts";

/** How long the requests of an isolate use the same tally. */
const TALLY_MS = 500;
const tallies = new SharedCache<Tally>({ max: 1_000, waitMs: SHARED_WAIT_MS, failedMs: 0 });

/** How long one poll's counters may delay the states of the others. */
const COUNTERS_MS = 5_000;

/** A poll's results as visible to the caller, at most a second old; exact once the poll is closed. */
export async function getResults(ctx: Ctx, id: string) {
  const poll = await getPoll(ctx, id);
  const tally = await orUnavailable(tallyOf(ctx, poll), "The poll's counters did not respond");
  return resultsOf({ ...definitionOf(poll), id }, tally, await isInsider(ctx));
}

/** These polls with what the caller sees of their results and has answered, in the order of the ids; those that don't exist are left out. */
export async function listStates(ctx: Ctx, ids: string[]): Promise<PollState[]> {
  // Read together with the check of the token.
  const accountId = ctx.claimedAccountId ?? "";
  const [rows, written] = await ctx.db.batch([
    ctx.db
      .select()
      .from(polls)
      .where(ownRows(ctx, polls, ids)),
    selectOwnResponses(ctx, ids, accountId),
  ]);
  const caller = await ctx.caller();
  const insider = isManager(caller);

  async function responsesTo(poll: PollRow) {
    if (caller.kind !== "account") return [];
    const own = await withUnwritten(
      ctx,
      poll,
      accountId,
      written.filter(({ pollId }) => pollId === poll.id),
    );
    return own.map((response) => toOwnResponse(ctx.siteId, poll.id, response));
  }

  async function stateOf(poll: PollRow): Promise<PollState> {
    const [tally, responses] = await Promise.all([orNull(poll, tallyOf(ctx, poll)), orNull(poll, responsesTo(poll))]);
    return { poll: toPoll(poll, insider), results: tally && resultsOf({ ...definitionOf(poll), id: poll.id }, tally, insider), responses };
  }

  const asked = ids.flatMap((id) => rows.find((poll) => poll.id === id) ?? []);
  return Promise.all(asked.map(stateOf));
}

/** Null if the poll's counters don't respond: the other polls have a state all the same. */
async function orNull<T>({ id }: PollRow, answer: Promise<T>): Promise<T | null> {
  try {
    return await withTimeout(answer, COUNTERS_MS);
  } catch (error) {
    logError("poll_state_failed", error, { poll: id });
    return null;
  }
}

/** Shared, because at a kick-off all viewers ask, and one counter sums up for all of them. */
async function tallyOf(ctx: Ctx, poll: PollRow): Promise<Tally> {
  const { id, open, version } = poll;
  const ask = () => counterAt(ctx.env, ctx.siteId, id, 0).sum();
  if (!open && mayHaveUnwritten(poll, ctx.now)) return ask();
  const load = async () => ({ value: await ask(), freshMs: TALLY_MS });
  return tallies.get(`${ctx.siteId} ${id} ${String(version)}`, load, (work) => ctx.defer(work));
}
