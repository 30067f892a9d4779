import type { PointsRule } from "#db/types.ts";

// Messages between the Worker and a leaderboard's object. No platform import.

/** Points for an account. The same cause counts once: for a rule once per account, otherwise (an `awardId`) once on the board. */
export interface NewAward {
  accountId: string;
  /** An integer other than 0; negative points correct earlier ones. */
  points: number;
  reason: string;
  cause: string;
  /** When it was earned, ms. */
  at: number;
  /** The rule that awards it; null for an award by a key. */
  rule: Pick<PointsRule, "on" | "perDay"> | null;
  /** How often the rule counts with this award; once if absent. */
  times?: number;
}

/** Minutes that accounts have watched (since 1970 UTC), each once per account, and the rule that pays for them. */
export interface WatchedMinutes {
  rule: Pick<PointsRule, "points" | "perDay">;
  minutes: [accountId: string, minute: number][];
}

export type AwardErrorCode = "not_found" | "conflict";

/** `repeated`: the same award was recorded before. */
export type AwardOutcome = { ok: true; total: number; repeated: boolean } | { ok: false; code: AwardErrorCode; message: string };

/** A member's place. Members with equal points share a rank; the one who reached them earlier comes first. */
export interface Standing {
  rank: number;
  /** Null once the account is deleted. */
  accountId: string | null;
  points: number;
}

/** Where a page of the ranks ends: the next one continues after it. */
export interface RankPosition {
  points: number;
  precedence: number;
}

export interface RankPage {
  standings: Standing[];
  members: number;
  /** Null on the last page. */
  next: RankPosition | null;
}

/** An account's own place, null without points, and those just before and after it. */
export interface OwnStanding {
  own: Standing | null;
  before: Standing[];
  after: Standing[];
  members: number;
}

/** Those on the other side of a number of points than somebody without any: with at least as many or, if it is 0, with fewer. */
export interface BeyondPoints {
  /** Without deleted accounts. */
  members: number;
  /** Null if there are more than were asked for. */
  accountIds: string[] | null;
}

/** A row of the ledger as exported. `member` identifies a member within the board, also after its account is deleted. */
export interface LedgerEntry {
  seq: number;
  at: number;
  member: number;
  accountId: string | null;
  points: number;
  rule: string | null;
  cause: string;
  reason: string;
}

/** An account's own row of the ledger. */
export type OwnAward = Pick<LedgerEntry, "at" | "points" | "rule" | "cause" | "reason">;

/** A settled poll: who gave this answer gets the points, and who got them for another outcome loses them. */
export interface Settlement {
  pollId: string;
  /** The event's sequence; a later outcome replaces an earlier one. */
  version: number;
  answerId: string;
  rule: PointsRule;
  /** When the poll was settled, ms. */
  at: number;
  /** Only responses given between these count, ms. */
  startsAt: number | null;
  endsAt: number | null;
}

/** A response to a settled poll. */
export interface Responder {
  accountId: string;
  correct: boolean;
}

/** The largest total, and the negative of the smallest. */
export const MAX_TOTAL = 2_000_000_000;

/** The reason in the ledger for what a rule awards. */
export const REASONS: Record<PointsRule["on"], string> = {
  "poll.answered": "Answered a poll",
  "prediction.correct": "Correct prediction",
  "trivia.correct": "Correct trivia answer",
  "quest.completed": "Completed a quest",
  "claim.succeeded": "Received a reward",
  "minute.watched": "Watched for a minute",
  "message.liked": "A message was liked",
};

/** What viewers see of a board at a glance, at most this many members. */
export const TOP = 10;
