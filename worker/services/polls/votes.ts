import { and, eq, sql } from "drizzle-orm";
import { pollResponses, type PollRow, polls } from "#db/schema/engagement/polls.ts";
import { counterAt, orUnavailable } from "#worker/durable-objects/stubs.ts";
import {
  type CountedVote,
  counterOf,
  type Vote,
  type VotePayment,
  type VoteOutcome,
  type VoteErrorCode,
} from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { Failure, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { callerAccount, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { mayHaveUnwritten } from "./counting.ts";
import type { ResponseInput } from "./schemas.ts";

/** A counted vote, and what its account has paid for it. */
export type PaidVote = Pick<Extract<VoteOutcome, { ok: true }>, "vote" | "payment">;

/** A counted vote with what it has cost. */
export type OwnResponse = CountedVote & { charged: number };

/** The result of a vote, sent to the viewer's socket. */
export type CastVote = { ok: true; payment?: VotePayment } | { ok: false; code: VoteErrorCode; message: string };

/** Counts a viewer's vote, idempotently by `requestId`; without a database query, unless it costs something. */
export async function castVote(env: Env, siteId: string, { pollId, ...vote }: Vote & { pollId: string }): Promise<CastVote> {
  const outcome = await sendVote(env, siteId, pollId, vote);
  if (!outcome.ok) return outcome;
  return outcome.payment ? { ok: true, payment: outcome.payment } : { ok: true };
}

/** Like `castVote`, but also returns a result if it fails, because the viewer's socket always gets a response. */
export async function castVoteForViewer(
  env: Env,
  siteId: string,
  vote: Parameters<typeof castVote>[2],
): Promise<CastVote | { ok: false; code: "unavailable"; message: string }> {
  try {
    return await castVote(env, siteId, vote);
  } catch (error) {
    logError("vote_failed", error, { siteId, pollId: vote.pollId });
    return { ok: false, code: "unavailable", message: "The vote could not be counted; send it again" };
  }
}

/**
 * Counts the caller's response to a poll. Throws `already_answered`, `poll_closed`, `not_found` (unknown poll or answer), `unavailable`, or
 * if it costs something `insufficient_balance` or `conflict` (another cost than the caller's).
 */
export async function respond(ctx: Ctx, pollId: string, response: ResponseInput): Promise<PaidVote> {
  const { id } = await callerAccount(ctx);
  // With an Idempotency-Key, a request that failed before its response was stored can be retried.
  const requestId = ctx.idempotencyId ?? newId(ctx.now);
  const sent = sendVote(ctx.env, ctx.siteId, pollId, { accountId: id, requestId, ...response });
  const outcome = await orUnavailable(sent, "The response could not be counted; send it again");
  if (!outcome.ok) throw new Failure(outcome.code, outcome.message);
  return outcome;
}

/** The caller's own responses to a poll, oldest first, with those that its counter hasn't written to the database yet. */
export async function ownResponses(ctx: Ctx, id: string): Promise<OwnResponse[]> {
  // Read together with the check of the token.
  const accountId = ctx.claimedAccountId ?? "";
  const [[poll], written] = await ctx.db.batch([
    ctx.db
      .select({ id: polls.id, open: polls.open, modified: polls.modified, responsesPerViewer: polls.responsesPerViewer })
      .from(polls)
      .where(ownRow(ctx, polls, id)),
    selectOwnResponses(ctx, [id], accountId),
  ]);
  await callerAccount(ctx);
  if (!poll) throw notFound("Poll not found");
  return orUnavailable(withUnwritten(ctx, poll, accountId, written), "The poll's counters did not respond");
}

/** Selects an account's responses to these polls that are in the database, for use in a batch. */
export function selectOwnResponses(ctx: Ctx, pollIds: string[], accountId: string) {
  const { pollId, n, answerId, created, charged } = pollResponses;
  return (
    ctx.db
      .select({ pollId, n, answerId, created, charged })
      .from(pollResponses)
      // By primary key: the index on the site finds all that the account has ever answered.
      .where(and(sql`+${pollResponses.siteId} = ${ctx.siteId}`, idIn(pollId, pollIds), eq(pollResponses.accountId, accountId)))
      .orderBy(n)
  );
}

/** An account's responses to a poll: those in the database and those that its counter has yet to write. */
export async function withUnwritten(
  ctx: Ctx,
  poll: Pick<PollRow, "id" | "open" | "modified" | "responsesPerViewer">,
  accountId: string,
  written: Omit<OwnResponse, "accountId">[],
): Promise<OwnResponse[]> {
  const isComplete = written.length >= poll.responsesPerViewer || !mayHaveUnwritten(poll, ctx.now);
  const counted = isComplete ? [] : await counterAt(ctx.env, ctx.siteId, poll.id, counterOf(accountId)).votesOf(accountId);
  // Paid responses are written when they are paid for, so these have cost nothing.
  const recent = counted.filter(({ n }) => !written.some((row) => row.n === n)).map((vote) => ({ ...vote, charged: 0 }));
  return [...written, ...recent].map(({ n, answerId, created, charged }) => ({ n, answerId, created, charged, accountId }));
}

function sendVote(env: Env, siteId: string, pollId: string, vote: Vote): Promise<VoteOutcome> {
  return counterAt(env, siteId, pollId, counterOf(vote.accountId)).vote(vote);
}
