import { and, desc, eq, type SQL } from "drizzle-orm";
import { pollResponses, type PollRow, polls } from "#db/schema/index.ts";
import type { PollAnswer } from "#db/types.ts";
import { counterOf } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { wonRace, conflict, Failure, invalid, LostRace, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { resultsOf } from "./results.ts";
import { type AnswersInput, type PollInput, type PollPatch, type PollReplacement, type RestrictedQuery, toPoll } from "./schemas.ts";
import {
  whereVersion,
  commit,
  commitIfUnchanged,
  type Ctx,
  isManager,
  newRow,
  ownRow,
  requireMatch,
} from "#worker/services/core/context.ts";
import { idIn, type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { counterAt, countersOf, defineEverywhere, definitionOf, orUnavailable } from "./counting.ts";
import { findReferences, isUnused } from "./references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

/** Of a site's open polls, as many of those changed last are asked for responses that are still on their way to the database. */
const ASKED_POLLS = 100;

/** What an account has answered; `correct` is null until the poll is settled. */
export interface AnsweredPoll {
  pollId: string;
  pollType: PollRow["type"];
  answerId: string;
  /** Milliseconds since 1970 UTC. */
  created: number;
  correct: boolean | null;
}

const LATE = "It is recorded, but the poll's counters did not answer; they follow as soon as they do";
const NOT_SETTLED = "The poll's counters did not answer: it is closed, but its outcome is not recorded; send it again";

const response = { n: pollResponses.n, answerId: pollResponses.answerId, created: pollResponses.created };

const pollList: ListSpec<PollRow> = {
  table: polls,
  id: { by: polls.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(polls).$dynamic(), slice),
  sort: {
    created: { by: polls.created, of: (row) => row.created },
    name: { by: polls.name, of: (row) => row.name },
  },
  defaultDirection: -1,
  search: { name: polls.name, question: polls.question },
};

export function listPolls(
  ctx: Ctx,
  query: ListQuery & { type?: PollRow["type"]; open?: boolean; rQuery?: RestrictedQuery },
): Promise<ListPage<PollRow>> {
  const { type, open, rQuery = {} } = query;
  return listRows(ctx, pollList, query, eq(polls.siteId, ctx.siteId), restrictedTo({ type, open }), restrictedTo(rQuery));
}

function restrictedTo({ _id, type, name, question, open }: RestrictedQuery): SQL | undefined {
  return and(
    _id === undefined ? undefined : idIn(polls.id, [_id].flat()),
    type === undefined ? undefined : idIn(polls.type, [type].flat()),
    name === undefined ? undefined : eq(polls.name, name),
    question === undefined ? undefined : eq(polls.question, question),
    open === undefined ? undefined : eq(polls.open, open),
  );
}

export async function getPoll(ctx: Ctx, id: string): Promise<PollRow> {
  const [poll] = await ctx.db
    .select()
    .from(polls)
    .where(ownRow(ctx, polls, id));
  if (!poll) throw notFound("Poll not found");
  return poll;
}

/** Whether the caller may see what the audience may not yet: the right answer, and who is ahead. */
export async function isInsider(ctx: Ctx): Promise<boolean> {
  return isManager(await ctx.caller());
}

export async function createPoll(ctx: Ctx, input: PollInput): Promise<PollRow> {
  requireOwnSite(ctx, input.siteId);
  const { type, question, name, open, responsesPerViewer, hideResults } = input;
  const row = newRow(ctx);
  const answers = answersOf(ctx, { id: row.id, answers: [] }, input.answers);
  const poll: PollRow = {
    ...row,
    ...{ type, question, name, open, responsesPerViewer, hideResults, answers },
    correctAnswerId: null,
    settled: null,
  };
  await commit(ctx, ctx.db.insert(polls).values(poll), { type: "poll.created", resource: `poll/${poll.id}`, data: toPoll(poll, false) });
  return poll;
}

/** Replaces a poll but for its answers, which have an operation of their own. */
export async function replacePoll(ctx: Ctx, id: string, input: PollReplacement): Promise<PollRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getPoll(ctx, id);
  const { type, question, name, open, responsesPerViewer, hideResults } = input;
  // Of a settled poll, what is not said stays settled.
  const { correctAnswerId = current.settled === null ? null : current.correctAnswerId } = input;
  return editPoll(ctx, current, { type, question, name, open, responsesPerViewer, hideResults, correctAnswerId });
}

/** Changes some fields of a poll. */
export async function patchPoll(ctx: Ctx, id: string, { siteId, ...fields }: PollPatch): Promise<PollRow> {
  requireOwnSite(ctx, siteId);
  return editPoll(ctx, await getPoll(ctx, id), fields);
}

async function editPoll(ctx: Ctx, current: PollRow, fields: Partial<PollRow>): Promise<PollRow> {
  requireMatch(ctx, current);
  const { open = current.open, correctAnswerId = current.correctAnswerId } = fields;
  if (correctAnswerId !== null) requireAnswer(current, correctAnswerId);
  if (current.settled !== null && (open || correctAnswerId !== current.correctAnswerId))
    throw conflict("The poll is settled: it can't be opened again, and its outcome is corrected by settling it once more");
  const verb = open === current.open ? "updated" : open ? "opened" : "closed";
  return changePoll(ctx, current, fields, `poll.${verb}`);
}

/** Replaces a poll's answers; one that has responses can't be taken away. */
export async function replaceAnswers(ctx: Ctx, id: string, input: AnswersInput): Promise<PollRow> {
  const current = await getPoll(ctx, id);
  requireMatch(ctx, current);
  if (current.settled !== null) throw conflict("The poll is settled: its answers stay");
  const answers = answersOf(ctx, current, input);
  const gone = current.answers.map((answer) => answer.id).filter((answerId) => !answers.some((answer) => answer.id === answerId));
  if (current.correctAnswerId !== null && gone.includes(current.correctAnswerId))
    throw conflict("The right answer can't be taken away; name another one first");
  if (gone.length === 0) return changePoll(ctx, current, { answers }, "poll.updated");
  await holdUnanswered(ctx, current, gone);
  try {
    return await changePoll(ctx, current, { answers }, "poll.updated");
  } catch (error) {
    // Another change came first, and nothing was written. After any other failure it may have been.
    if (error instanceof Failure && error.code === "conflict") await release(ctx, id);
    throw error;
  }
}

/** Keeps responses to these answers away while they are taken out of the poll; a 409 where there are some already. */
async function holdUnanswered(ctx: Ctx, { id, version }: PollRow, answerIds: string[]): Promise<void> {
  const hold = { by: ctx.requestId, version, answerIds };
  const responses = await Promise.all(countersOf(ctx.env, ctx.siteId, id).map((counter) => counter.hold(hold)));
  if (responses.every((count) => count === 0)) return;
  await release(ctx, id);
  throw conflict("An answer that has responses can't be taken away");
}

async function release(ctx: Ctx, id: string): Promise<void> {
  await Promise.all(countersOf(ctx.env, ctx.siteId, id).map((counter) => counter.release(ctx.requestId)));
}

/**
 * Says which answer was right, and closes the poll before: whoever hears of the outcome finds every response in the database, and none can
 * come. Safe to repeat; another answer corrects the outcome.
 */
export async function settlePoll(ctx: Ctx, id: string, correctAnswerId?: string): Promise<PollRow> {
  const current = await getPoll(ctx, id);
  requireMatch(ctx, current);
  const answerId = correctAnswerId ?? current.correctAnswerId;
  if (answerId === null) throw invalid("correctAnswerId", "The poll has none of its own: say which answer is right");
  requireAnswer(current, answerId);
  if (current.settled !== null && current.correctAnswerId === answerId) return current;
  if (!current.open) await bringToCounters(ctx, current, NOT_SETTLED);
  // What was asked for is the outcome: until that is written, the same Idempotency-Key may try again.
  const unkeyed: Ctx = { ...ctx, idempotencyId: undefined };
  const closed = current.open ? await changePoll(unkeyed, current, { open: false }, "poll.closed", NOT_SETTLED) : current;
  return changePoll(ctx, closed, { correctAnswerId: answerId, settled: ctx.now }, "poll.settled");
}

/** Deletes a poll with all its responses, unless a panel or a quest uses it. */
export async function deletePoll(ctx: Ctx, id: string): Promise<PollRow> {
  const current = await getPoll(ctx, id);
  requireMatch(ctx, current);
  await requireUnused(ctx, id);
  const change = ctx.db.delete(polls).where(and(whereVersion(ctx, polls, current), isUnused(ctx, id)));
  const event = { type: "poll.deleted", resource: `poll/${id}`, data: toPoll(current, false) };
  if (!(await wonRace(() => commitIfUnchanged(ctx, change, event)))) {
    // A panel or quest came in between, or somebody else's change.
    await requireUnused(ctx, id);
    throw new LostRace();
  }
  const cleared = Promise.all(countersOf(ctx.env, ctx.siteId, id).map((counter) => counter.clear()));
  await orUnavailable(cleared, LATE);
  return current;
}

async function requireUnused(ctx: Ctx, id: string): Promise<void> {
  const [use] = await findReferences(ctx, id);
  if (use) throw conflict(`It is still used by "${use.name}"; GET /poll/v3/validate-references/{id} lists what uses it`);
}

/** A poll's tally as the caller may see it, at most half a second old; exact once the poll is closed. */
export async function getResults(ctx: Ctx, id: string) {
  const poll = await getPoll(ctx, id);
  const tally = await orUnavailable(counterAt(ctx.env, ctx.siteId, id, 0).sum(), "The poll's counters did not answer");
  return resultsOf({ ...definitionOf(poll), id }, tally, await isInsider(ctx));
}

/**
 * All that an account has answered, the oldest first. Closed polls are in the database to the last response; what was said a moment ago to
 * open ones comes from their counters.
 */
export async function answeredPolls(ctx: Pick<Ctx, "env" | "db" | "siteId">, accountId: string): Promise<AnsweredPoll[]> {
  const [written, open] = await ctx.db.batch([
    ctx.db
      .select({ poll: polls.id, type: polls.type, settled: polls.settled, right: polls.correctAnswerId, ...response })
      .from(pollResponses)
      .innerJoin(polls, eq(polls.id, pollResponses.pollId))
      .where(and(eq(pollResponses.siteId, ctx.siteId), eq(pollResponses.accountId, accountId))),
    ctx.db
      .select({ id: polls.id, type: polls.type, most: polls.responsesPerViewer })
      .from(polls)
      .where(and(eq(polls.siteId, ctx.siteId), eq(polls.open, true)))
      .orderBy(desc(polls.modified))
      .limit(ASKED_POLLS),
  ]);
  const answered = written.map(({ poll, type, settled, right, n, answerId, created }) => ({
    n,
    answer: { pollId: poll, pollType: type, answerId, created, correct: settled === null ? null : answerId === right },
  }));
  const isWritten = (pollId: string, n: number) => answered.some((row) => row.n === n && row.answer.pollId === pollId);
  const asked = open
    .filter((poll) => !isWritten(poll.id, poll.most))
    .map(async (poll) => {
      const votes = await counterAt(ctx.env, ctx.siteId, poll.id, counterOf(accountId)).votesOf(accountId);
      return votes
        .filter((vote) => !isWritten(poll.id, vote.n))
        .map(({ answerId, created }) => ({ pollId: poll.id, pollType: poll.type, answerId, created, correct: null }));
    });
  const recent = await Promise.all(asked);
  return [...answered.map(({ answer }) => answer), ...recent.flat()].sort((one, other) => one.created - other.created);
}

/** Writes a change with its event and brings it to the counters; `late` is told where they don't answer. */
async function changePoll(ctx: Ctx, current: PollRow, fields: Partial<PollRow>, type: string, late = LATE): Promise<PollRow> {
  const next: PollRow = { ...current, ...fields, modified: ctx.now, version: current.version + 1 };
  const change = ctx.db
    .update(polls)
    .set(next)
    .where(whereVersion(ctx, polls, current));
  const data = { ...toPoll(next, false), pollId: next.id };
  const eventIds = await commitIfUnchanged(ctx, change, { type, resource: `poll/${next.id}`, data });
  await bringToCounters(ctx, next, late);
  ctx.emitted.completedEventIds.push(...eventIds);
  return next;
}

/** From its answer on, votes are counted by this row. Where that fails, the site's log makes up for it, and the caller hears so. */
function bringToCounters(ctx: Ctx, poll: PollRow, late: string): Promise<void> {
  return orUnavailable(defineEverywhere(ctx.env, ctx.siteId, poll.id, definitionOf(poll)), late);
}

function requireAnswer(poll: { answers: PollAnswer[] }, answerId: string): void {
  if (!poll.answers.some((answer) => answer.id === answerId)) throw invalid("correctAnswerId", "The poll has no such answer");
}

/** The answers as they will be stored: those with an id are the poll's own, the others get one. */
function answersOf(ctx: Ctx, current: Pick<PollRow, "id" | "answers">, input: AnswersInput): PollAnswer[] {
  return input.map(({ _id, pollId, answer, imageUrl = null }, index) => {
    if (pollId !== undefined && pollId !== current.id) throw invalid(`${index}.pollId`, "Must be the poll's id");
    if (_id !== undefined && !current.answers.some((known) => known.id === _id))
      throw invalid(`${index}._id`, "The poll has no such answer");
    return { id: _id ?? newId(ctx.now), answer, imageUrl };
  });
}
