import type { PollAnswer } from "#db/types.ts";

// Messages between the Worker and a poll's counters. No platform import.

/** How many counters share a poll's votes. Must never change: it determines which counter stores an account's votes. */
export const POLL_COUNTERS = 8;

/** The part of a poll that its counters need. `version` is the row's version; only a later one replaces it. */
export interface PollDefinition {
  version: number;
  open: boolean;
  hideResults: boolean;
  responsesPerViewer: number;
  answers: PollAnswer[];
  /** Votes from this time on don't count (ms), by the counter's clock. Missing in definitions that were stored before it existed. */
  locksAt?: number | null;
  /** What a vote costs. Missing in definitions that were stored before it existed. */
  responseCost?: number;
  /** Set once the poll is settled. */
  correctAnswerId: string | null;
}

/** One vote. The same `requestId` from the same account is the same vote, however often it is sent. */
export interface Vote {
  accountId: string;
  answerId: string;
  requestId: string;
  /** Where the viewer voted, if known. */
  channelId?: string;
  /** What the viewer has agreed to pay; nothing if absent. */
  cost?: number;
}

/** What an account has paid for a vote, and its wallet's balance then. */
export interface VotePayment {
  charged: number;
  balance: number;
}

/** A counted vote; `n` numbers an account's votes from 1, `created` is in milliseconds since 1970 UTC. */
export interface CountedVote {
  accountId: string;
  n: number;
  answerId: string;
  created: number;
}

/** A vote that costs something, until it is known whether the wallet has paid. An account has one at a time. */
export interface PendingVote extends CountedVote {
  requestId: string;
  channelId: string;
  cost: number;
}

/** Answers that the request `by` is about to remove from this version of the poll. */
export interface Hold {
  by: string;
  version: number;
  answerIds: string[];
}

export type VoteErrorCode = "not_found" | "poll_closed" | "already_answered" | "insufficient_balance" | "conflict";
export type VoteOutcome = { ok: true; vote: CountedVote; payment?: VotePayment } | { ok: false; code: VoteErrorCode; message: string };

/** Votes by answer id; answers without votes are missing. */
export type Tally = Record<string, number>;

/** The object name of one of a poll's counters: `getByName(counterName(…))`. */
export function counterName(siteId: string, pollId: string, counter: number): string {
  return `${siteId}:${pollId}:${counter}`;
}

/** Reads `<siteId>:<pollId>:<counter>`. */
export function parseCounterName(name: string | undefined): { siteId: string; pollId: string; counter: number } {
  const [siteId, pollId, counter] = (name ?? "").split(":");
  if (!siteId || !pollId || counter === undefined) throw new Error("Expected an object name of the form <siteId>:<pollId>:<counter>");
  return { siteId, pollId, counter: Number(counter) };
}

/** The counter that stores an account's votes. The end of an id is random, so accounts are spread evenly. */
export function counterOf(accountId: string): number {
  return parseInt(accountId.slice(-4), 16) % POLL_COUNTERS;
}
