import { and, desc, eq, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { pollResponses, type PollRow, polls } from "#db/schema/engagement/polls.ts";
import type { PollAnswer } from "#db/types.ts";
import { counterAt, countersOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import { counterOf } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { wonRace, conflict, Failure, invalid, LostRace, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type AnswersInput, type PollInput, type PollPatch, type PollReplacement, type RestrictedQuery, toPoll } from "./schemas.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  isManager,
  type NewEvent,
  newRow,
  nudgeAgain,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { idIn, isNamed, type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { defineOnAllCounters, definitionOf } from "./counting.ts";
import { findReferences, isUnused } from "./references.ts";
import { cancelActionsOf, scheduleTimes, wakeScheduler } from "#worker/services/schedule/derived.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

/** How many of the most recently modified open polls are checked for responses that are not in the database yet. */
const MAX_CHECKED_POLLS = 100;

/** An account's response to a poll; `correct` is null until the poll is settled. */
export interface AnsweredPoll {
  pollId: string;
  pollType: PollRow["type"];
  answerId: string;
  /** Milliseconds since 1970 UTC. */
  created: number;
  correct: boolean | null;
}

const COUNTERS_DELAYED =
  "The change was saved, but the poll's counters did not respond; they will be updated as soon as they are available";
const PRUNED = "The poll's responses have been deleted, because it was closed long ago: nobody can be paid for an outcome any more";
const NOT_SETTLED = "The poll's counters did not respond: the poll is closed, but its outcome is not saved; send the request again";

const response = { n: pollResponses.n, answerId: pollResponses.answerId, created: pollResponses.created };

const pollList = tableList<PollRow>({
  table: polls,
  rows: (db, slice) => sliceOf(db.select().from(polls).$dynamic(), slice),
  sort: { created: polls.created, name: polls.name },
  search: { name: polls.name, question: polls.question },
});

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
    name === undefined ? undefined : isNamed(polls.name, name),
    question === undefined ? undefined : isNamed(polls.question, question),
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

/** Whether the caller may see what viewers may not see yet: the correct answer and the current counts. */
export async function isInsider(ctx: Ctx): Promise<boolean> {
  return isManager(await ctx.caller());
}

export async function createPoll(ctx: Ctx, input: PollInput): Promise<PollRow> {
  requireOwnSite(ctx, input.siteId);
  const { type, question, name, open, responsesPerViewer, hideResults, responseCost, locksAt } = input;
  requireLock(ctx, { open, locksAt });
  const row = newRow(ctx);
  const answers = answersOf(ctx, { id: row.id, answers: [] }, input.answers);
  const poll: PollRow = {
    ...row,
    ...{ type, question, name, open, responsesPerViewer, hideResults, responseCost, locksAt, answers },
    correctAnswerId: null,
    settled: null,
    responsesPruned: null,
  };
  const changes = [ctx.db.insert(polls).values(poll), ...(await scheduleLock(ctx, poll, null))];
  await commit(ctx, changes, { type: "poll.created", resource: `poll/${poll.id}`, data: toPoll(poll, false) });
  await wakeScheduler(ctx, locksAt);
  return poll;
}

/** Replaces everything but a poll's answers, which have their own operation. */
export async function replacePoll(ctx: Ctx, id: string, input: PollReplacement): Promise<PollRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getPoll(ctx, id);
  const { type, question, name, open, responsesPerViewer, hideResults, responseCost, locksAt } = input;
  // An omitted correctAnswerId doesn't unset the outcome of a settled poll.
  const { correctAnswerId = current.settled === null ? null : current.correctAnswerId } = input;
  const fields = { type, question, name, open, responsesPerViewer, hideResults, responseCost, locksAt, correctAnswerId };
  return editPoll(ctx, current, fields);
}

/** Updates some fields of a poll. */
export async function patchPoll(ctx: Ctx, id: string, { siteId, ...fields }: PollPatch): Promise<PollRow> {
  requireOwnSite(ctx, siteId);
  return editPoll(ctx, await getPoll(ctx, id), fields);
}

async function editPoll(ctx: Ctx, current: PollRow, fields: Partial<PollRow>): Promise<PollRow> {
  requireMatch(ctx, current);
  const { open = current.open, correctAnswerId = current.correctAnswerId } = fields;
  if (correctAnswerId !== null) requireAnswer(current, correctAnswerId);
  if (current.settled !== null && (open || correctAnswerId !== current.correctAnswerId))
    throw conflict("The poll is settled: it can't be reopened; to correct its outcome, settle it again");
  // Nobody pays more than was shown.
  if (current.open && open && (fields.responseCost ?? current.responseCost) !== current.responseCost)
    throw conflict("The poll is open: close it to change what a response costs");
  const { locksAt = current.locksAt } = fields;
  if (open !== current.open || locksAt !== current.locksAt) requireLock(ctx, { open, locksAt });
  const verb = open === current.open ? "updated" : open ? "opened" : "closed";
  return changePoll(ctx, current, fields, `poll.${verb}`);
}

/** An open poll can't have a lock in the past: it would accept nothing. */
function requireLock(ctx: Ctx, { open, locksAt }: Pick<PollRow, "open" | "locksAt">): void {
  if (open && locksAt !== null && locksAt <= ctx.now) throw invalid("locksAt", "Must be in the future for an open poll, or null");
}

/** Opens or closes a poll. Returns why, if there is nothing left to do. */
export async function switchPoll(ctx: Ctx, id: string, open: boolean): Promise<string | null> {
  const current = await getPoll(ctx, id);
  if (current.open === open) return nudgeAgain(ctx, `The poll was already ${open ? "open" : "closed"}`);
  const isLocked = open && current.locksAt !== null && current.locksAt <= ctx.now;
  await editPoll(ctx, current, isLocked ? { open, locksAt: null } : { open });
  return null;
}

/** Replaces a poll's answers; one with responses can't be removed. */
export async function replaceAnswers(ctx: Ctx, id: string, input: AnswersInput): Promise<PollRow> {
  const current = await getPoll(ctx, id);
  requireMatch(ctx, current);
  if (current.settled !== null) throw conflict("The poll is settled: its answers can't be changed");
  const answers = answersOf(ctx, current, input);
  const removed = current.answers.map((answer) => answer.id).filter((answerId) => !answers.some((answer) => answer.id === answerId));
  if (current.correctAnswerId !== null && removed.includes(current.correctAnswerId))
    throw conflict("The correct answer can't be removed; set another one first");
  if (removed.length === 0) return changePoll(ctx, current, { answers }, "poll.updated");
  await blockResponses(ctx, current, removed);
  try {
    return await changePoll(ctx, current, { answers }, "poll.updated");
  } catch (error) {
    // On a conflict nothing was written. After any other failure, the change may have been committed.
    if (error instanceof Failure && error.code === "conflict") await release(ctx, id);
    throw error;
  }
}

/** Blocks responses to these answers while they are removed from the poll; throws a 409 if there are any already. */
async function blockResponses(ctx: Ctx, { id, version }: PollRow, answerIds: string[]): Promise<void> {
  const hold = { by: ctx.requestId, version, answerIds };
  const responses = await Promise.all(countersOf(ctx.env, ctx.siteId, id).map((counter) => counter.hold(hold)));
  if (responses.every((count) => count === 0)) return;
  await release(ctx, id);
  throw conflict("An answer with responses can't be removed");
}

async function release(ctx: Ctx, id: string): Promise<void> {
  await Promise.all(countersOf(ctx.env, ctx.siteId, id).map((counter) => counter.release(ctx.requestId)));
}

/**
 * Closes the poll, then sets the correct answer, so that consumers of the outcome find every response in the database, and no more
 * can follow. Idempotent; another answer corrects the outcome.
 */
export async function settlePoll(ctx: Ctx, id: string, correctAnswerId?: string): Promise<PollRow> {
  const current = await getPoll(ctx, id);
  requireMatch(ctx, current);
  const answerId = correctAnswerId ?? current.correctAnswerId;
  if (answerId === null) throw invalid("correctAnswerId", "Required, because the poll has no correctAnswerId of its own");
  requireAnswer(current, answerId);
  if (current.settled !== null && current.correctAnswerId === answerId) return nudgeAgain(ctx, current);
  if (current.responsesPruned !== null) throw conflict(PRUNED);
  if (!current.open) await updateCounters(ctx, current, NOT_SETTLED);
  // Only the outcome completes the request: until then, the same Idempotency-Key may be retried.
  const unkeyed: Ctx = { ...ctx, idempotencyId: undefined, alongside: undefined };
  const closed = current.open ? await changePoll(unkeyed, current, { open: false }, "poll.closed", NOT_SETTLED) : current;
  return changePoll(ctx, closed, { correctAnswerId: answerId, settled: ctx.now }, "poll.settled");
}

/** Deletes a poll with all its responses, unless a panel or a quest uses it. */
export async function deletePoll(ctx: Ctx, id: string): Promise<PollRow> {
  const current = await getPoll(ctx, id);
  requireMatch(ctx, current);
  await requireUnused(ctx, id);
  const change = [
    ctx.db.delete(polls).where(and(whereVersion(ctx, polls, current), isUnused(ctx, id))),
    ...(await cancelActionsOf(ctx, id)),
  ];
  const event: NewEvent<"poll.deleted"> = { type: "poll.deleted", resource: `poll/${id}`, data: toPoll(current, false) };
  if (!(await wonRace(() => commitIfUnchanged(ctx, change, event)))) {
    // A panel or quest was added concurrently, or the poll was changed.
    await requireUnused(ctx, id);
    throw new LostRace();
  }
  const cleared = Promise.all(countersOf(ctx.env, ctx.siteId, id).map((counter) => counter.clear()));
  await orUnavailable(cleared, COUNTERS_DELAYED);
  return current;
}

async function requireUnused(ctx: Ctx, id: string): Promise<void> {
  const [use] = await findReferences(ctx, id);
  if (use) throw conflict(`The poll is still used by "${use.name}"; GET /poll/v3/validate-references/{id} lists what uses it`);
}

/**
 * All responses of an account, oldest first. The database has all responses to closed polls; recent ones to open polls come from
 * their counters.
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
      .limit(MAX_CHECKED_POLLS),
  ]);
  const answered = written.map(({ poll, type, settled, right, n, answerId, created }) => ({
    n,
    answer: { pollId: poll, pollType: type, answerId, created, correct: settled === null ? null : answerId === right },
  }));
  const isWritten = (pollId: string, n: number) => answered.some((row) => row.n === n && row.answer.pollId === pollId);
  const pending = open
    .filter((poll) => !isWritten(poll.id, poll.most))
    .map(async (poll) => {
      const votes = await counterAt(ctx.env, ctx.siteId, poll.id, counterOf(accountId)).votesOf(accountId);
      return votes
        .filter((vote) => !isWritten(poll.id, vote.n))
        .map(({ answerId, created }) => ({ pollId: poll.id, pollType: poll.type, answerId, created, correct: null }));
    });
  const recent = await Promise.all(pending);
  return [...answered.map(({ answer }) => answer), ...recent.flat()].sort((one, other) => one.created - other.created);
}

type PollChange = `poll.${"updated" | "opened" | "closed" | "settled"}`;

/** Commits a change with its event and updates the counters; `delayed` is the message if they don't respond. */
async function changePoll(
  ctx: Ctx,
  current: PollRow,
  fields: Partial<PollRow>,
  type: PollChange,
  delayed = COUNTERS_DELAYED,
): Promise<PollRow> {
  const next: PollRow = { ...current, ...fields, modified: ctx.now, version: current.version + 1 };
  // It has responses again.
  if (next.open) next.responsesPruned = null;
  const moves = next.locksAt !== current.locksAt;
  const changes = [updateRow(ctx, polls, current, next), ...(await scheduleLock(ctx, next, current))];
  const data = { ...toPoll(next, false), pollId: next.id };
  const eventIds = await commitIfUnchanged(ctx, changes, { type, resource: `poll/${next.id}`, data });
  await updateCounters(ctx, next, delayed);
  if (moves) await wakeScheduler(ctx, next.locksAt);
  // The effect of an outcome also pays the leaderboards.
  if (type !== "poll.settled") ctx.emitted.completedEventIds.push(...eventIds);
  return next;
}

/** Once this resolves, votes are counted by this row. If it fails, the site log makes up for it and the caller gets a 503. */
function updateCounters(ctx: Ctx, poll: PollRow, delayed: string): Promise<void> {
  return orUnavailable(defineOnAllCounters(ctx.env, ctx.siteId, poll.id, definitionOf(poll)), delayed);
}

/** The statements that schedule the closing of a poll at its lock, if it differs from the previous one. */
function scheduleLock(ctx: Ctx, { id, name, locksAt }: PollRow, previous: PollRow | null): Promise<BatchItem<"sqlite">[]> {
  const timeOf = (dueAt: number | null) => [{ kind: "poll.close" as const, dueAt }];
  return scheduleTimes(ctx, { source: "poll", targetId: id, name, channelId: null }, timeOf(locksAt), previous && timeOf(previous.locksAt));
}

function requireAnswer(poll: { answers: PollAnswer[] }, answerId: string): void {
  if (!poll.answers.some((answer) => answer.id === answerId)) throw invalid("correctAnswerId", "The poll has no answer with this id");
}

/** The answers to store: those with an id must be the poll's own, the others get a new id. */
function answersOf(ctx: Ctx, current: Pick<PollRow, "id" | "answers">, input: AnswersInput): PollAnswer[] {
  return input.map(({ _id, pollId, answer, imageUrl = null }, index) => {
    if (pollId !== undefined && pollId !== current.id) throw invalid(`${index}.pollId`, "Must be the poll's id");
    if (_id !== undefined && !current.answers.some((known) => known.id === _id))
      throw invalid(`${index}._id`, "The poll has no answer with this id");
    return { id: _id ?? newId(ctx.now), answer, imageUrl };
  });
}
