import type { PollAnswer } from "#db/types.ts";

// What the Worker and the counters of a poll say to each other. No platform import.

/** Counters that share a poll's votes. Never changed: which of them knows an account's votes follows from it. */
export const POLL_COUNTERS = 8;

/** Of a poll, what its counters must know. `version` is the row's: a later one replaces an earlier one, never the other way round. */
export interface PollDefinition {
  version: number;
  open: boolean;
  hideResults: boolean;
  responsesPerViewer: number;
  answers: PollAnswer[];
  /** Of a settled poll. */
  correctAnswerId: string | null;
}

/** One vote. The same `requestId` of the same account is the same vote, however often it comes. */
export interface Vote {
  accountId: string;
  answerId: string;
  requestId: string;
}

/** A vote as it was counted; `n` counts those of one account from 1, `created` is in milliseconds since 1970 UTC. */
export interface CountedVote {
  accountId: string;
  n: number;
  answerId: string;
  created: number;
}

/** Answers that the request `by` is about to take out of the poll as it stood in this version. */
export interface Hold {
  by: string;
  version: number;
  answerIds: string[];
}

export type VoteRefusal = "not_found" | "poll_closed" | "already_answered" | "conflict";
export type VoteOutcome = { ok: true; vote: CountedVote } | { ok: false; code: VoteRefusal; message: string };

/** Votes by answer id; answers without any are missing. */
export type Tally = Record<string, number>;

/** Name of one of a poll's counters: `getByName(counterName(…))`. */
export function counterName(siteId: string, pollId: string, counter: number): string {
  return `${siteId}:${pollId}:${counter}`;
}

/** Reads `<siteId>:<pollId>:<counter>`. */
export function parseCounterName(name: string | undefined): { siteId: string; pollId: string; counter: number } {
  const [siteId, pollId, counter] = (name ?? "").split(":");
  if (!siteId || !pollId || counter === undefined) throw new Error("This object is named <siteId>:<pollId>:<counter>");
  return { siteId, pollId, counter: Number(counter) };
}

/** The counter of an account: the end of an id is random, so they share evenly. */
export function counterOf(accountId: string): number {
  return parseInt(accountId.slice(-4), 16) % POLL_COUNTERS;
}
