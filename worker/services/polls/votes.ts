import { counterAt, orUnavailable } from "#worker/durable-objects/stubs.ts";
import {
  counterOf,
  type Vote,
  type VotePayment,
  type VoteOutcome,
  type VoteErrorCode,
} from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { Failure } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";
import { callerAccount, type Ctx } from "#worker/services/core/context.ts";
import type { ResponseInput } from "./schemas.ts";

/** A counted vote, and what its account has paid for it. */
export type PaidVote = Pick<Extract<VoteOutcome, { ok: true }>, "vote" | "payment">;

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

function sendVote(env: Env, siteId: string, pollId: string, vote: Vote): Promise<VoteOutcome> {
  return counterAt(env, siteId, pollId, counterOf(vote.accountId)).vote(vote);
}
