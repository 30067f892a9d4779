import { createHash } from "node:crypto";
import { migrate } from "#worker/durable-objects/migrations.ts";
import type { CountedVote, Hold, PollDefinition, Tally, Vote, VoteOutcome, VoteErrorCode } from "./poll-counter.protocol.ts";

/** How long a pending change may block votes for an answer if the change never arrives. */
const HOLD_MS = 10_000;

/** Prefix of the hash that replaces the id of a deleted account. */
const ANONYMIZED = "-";

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS votes (
    seq INTEGER PRIMARY KEY, account_id TEXT NOT NULL, n INTEGER NOT NULL, answer_id TEXT NOT NULL,
    request_id TEXT NOT NULL, created INTEGER NOT NULL, UNIQUE (account_id, n)
  )`,
  "ALTER TABLE votes ADD COLUMN channel_id TEXT NOT NULL DEFAULT ''",
];

type OwnVote = { n: number; answerId: string; requestId: string; created: number };

/** A vote and its position in counting order. */
export interface StoredVote extends CountedVote {
  seq: number;
  /** Where it was cast; empty if unknown. */
  channelId: string;
}

/** The votes of one counter in its own storage; the tally is kept in memory and recounted after a restart. */
export class VoteStore {
  readonly #storage: DurableObjectStorage;
  readonly #tally = new Map<string, number>();
  #poll: PollDefinition | undefined;
  #written: number;
  /** Whether there are votes of deleted accounts. */
  #hasAnonymous = false;
  /** Only a counter whose poll exists stores anything: votes for made-up polls leave nothing behind. */
  #hasTable: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#poll = storage.kv.get<PollDefinition>("poll");
    this.#written = storage.kv.get<number>("written") ?? 0;
    this.#hasTable = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'votes'").toArray().length > 0;
    if (!this.#hasTable) return;
    this.#createTable();
    // Ids are hexadecimal and sort after the prefix.
    this.#hasAnonymous = storage.sql.exec("SELECT 1 FROM votes WHERE account_id < '0' LIMIT 1").toArray().length > 0;
    const counts = "SELECT answer_id AS id, count(*) AS votes FROM votes GROUP BY answer_id";
    for (const { id, votes } of storage.sql.exec<{ id: string; votes: number }>(counts)) this.#tally.set(id, votes);
  }

  get poll(): PollDefinition | undefined {
    return this.#poll;
  }

  /** Stores a definition unless a later one is stored; returns whether it is new. Releases holds for changes of older versions. */
  define(poll: PollDefinition): boolean {
    if (this.#poll && this.#poll.version >= poll.version) return false;
    this.#createTable();
    this.#keepHeld(({ version }) => version >= poll.version);
    this.#storage.kv.put("poll", poll);
    this.#poll = poll;
    return true;
  }

  /** Counts a vote or returns why it doesn't count; a vote that is already counted gets the same result. */
  count({ accountId, answerId, requestId, channelId = "" }: Vote, now: number): VoteOutcome {
    const own = this.#votesOf(accountId);
    const same = own.find((vote) => vote.requestId === requestId && vote.answerId === answerId);
    if (same) return { ok: true, vote: { accountId, n: same.n, answerId, created: same.created } };
    const error = this.#check(answerId, own.length, now);
    if (error) return error;
    const vote = { accountId, n: own.length + 1, answerId, created: now };
    const insert = "INSERT INTO votes (account_id, n, answer_id, request_id, created, channel_id) VALUES (?, ?, ?, ?, ?, ?)";
    this.#storage.sql.exec(insert, accountId, vote.n, answerId, requestId, now, channelId);
    this.#tally.set(answerId, (this.#tally.get(answerId) ?? 0) + 1);
    return { ok: true, vote };
  }

  /** Rejects votes for these answers until a newer definition, or for 10 s; returns how many they have. */
  hold(hold: Hold, now: number): number {
    this.#storage.kv.put("held", [...this.#held(now), { ...hold, until: now + HOLD_MS }]);
    return hold.answerIds.reduce((sum, id) => sum + (this.#tally.get(id) ?? 0), 0);
  }

  /** Releases the answers held by one request. */
  release(by: string): void {
    this.#keepHeld((hold) => hold.by !== by);
  }

  tally(): Tally {
    return Object.fromEntries(this.#tally);
  }

  of(accountId: string): CountedVote[] {
    if (!this.#hasTable) return [];
    const votes = "SELECT account_id AS accountId, n, answer_id AS answerId, created FROM votes WHERE account_id = ? ORDER BY n";
    return this.#storage.sql.exec<CountedVote & Record<string, SqlStorageValue>>(votes, accountId).toArray();
  }

  /** The oldest votes that aren't in the database yet. */
  unwritten(limit: number): StoredVote[] {
    if (!this.#hasTable) return [];
    const votes = `SELECT seq, account_id AS accountId, n, answer_id AS answerId, created, channel_id AS channelId
      FROM votes WHERE seq > ? ORDER BY seq LIMIT ?`;
    return this.#storage.sql.exec<StoredVote & Record<string, SqlStorageValue>>(votes, this.#written, limit).toArray();
  }

  /** Marks all votes up to this one as written to the database; `isPaid`: leaderboards pay for those that weren't written before. */
  markWritten(seq: number, isPaid: boolean): void {
    if (seq <= this.#written) return;
    if (isPaid && this.#storage.kv.get("paid") === undefined) this.#storage.kv.put("paid", this.#written);
    this.#storage.kv.put("written", seq);
    this.#written = seq;
  }

  /** The oldest written votes that leaderboards have yet to pay for. */
  unpaid(limit: number): StoredVote[] {
    const paid = this.#storage.kv.get<number>("paid");
    if (paid === undefined || !this.#hasTable) return [];
    const votes = `SELECT seq, account_id AS accountId, n, answer_id AS answerId, created, channel_id AS channelId FROM votes
      WHERE seq > ? AND seq <= ? AND account_id >= '0' ORDER BY seq LIMIT ?`;
    return this.#storage.sql.exec<StoredVote & Record<string, SqlStorageValue>>(votes, paid, this.#written, limit).toArray();
  }

  markPaid(seq: number): void {
    if (seq >= this.#written) this.#storage.kv.delete("paid");
    else this.#storage.kv.put("paid", seq);
  }

  /** Replaces an account's id with its hash. The votes stay, and a deleted account still can't vote again. */
  anonymize(accountId: string): void {
    if (!this.#hasTable || accountId.startsWith(ANONYMIZED)) return;
    this.#storage.sql.exec("UPDATE votes SET account_id = ?, request_id = '' WHERE account_id = ?", anonymousId(accountId), accountId);
    this.#hasAnonymous = true;
  }

  /** Deletes everything. */
  clear(): void {
    if (this.#hasTable) this.#storage.sql.exec("DELETE FROM votes");
    for (const key of ["poll", "written", "paid", "held"]) this.#storage.kv.delete(key);
    this.#tally.clear();
    this.#poll = undefined;
    this.#written = 0;
  }

  #createTable(): void {
    migrate(this.#storage, "votes", SCHEMA);
    this.#hasTable = true;
  }

  #votesOf(accountId: string): OwnVote[] {
    if (!this.#hasTable) return [];
    const votes = "SELECT n, answer_id AS answerId, request_id AS requestId, created FROM votes WHERE account_id = ?";
    const own = this.#storage.sql.exec<OwnVote>(votes, accountId).toArray();
    if (own.length > 0 || !this.#hasAnonymous) return own;
    return this.#storage.sql.exec<OwnVote>(votes, anonymousId(accountId)).toArray();
  }

  #check(answerId: string, responses: number, now: number): VoteOutcome | undefined {
    const poll = this.#poll;
    if (!poll) return rejected("not_found", "Poll not found");
    if (!poll.answers.some((answer) => answer.id === answerId)) return rejected("not_found", "The poll has no such answer");
    if (!poll.open) return rejected("poll_closed", "The poll is closed");
    if (now >= (poll.locksAt ?? Infinity)) return rejected("poll_closed", "The poll is locked");
    if (responses >= poll.responsesPerViewer) return rejected("already_answered", "You have answered this poll already");
    if (this.#held(now).some(({ answerIds }) => answerIds.includes(answerId)))
      return rejected("conflict", "The poll's answers are being changed; try again");
    return undefined;
  }

  #held(now: number): (Hold & { until: number })[] {
    return (this.#storage.kv.get<(Hold & { until: number })[]>("held") ?? []).filter(({ until }) => until > now);
  }

  #keepHeld(keeps: (hold: Hold) => boolean): void {
    this.#storage.kv.put("held", (this.#storage.kv.get<Hold[]>("held") ?? []).filter(keeps));
  }
}

function rejected(code: VoteErrorCode, message: string): VoteOutcome {
  return { ok: false, code, message };
}

function anonymousId(accountId: string): string {
  return ANONYMIZED + createHash("sha256").update(accountId).digest("hex");
}
