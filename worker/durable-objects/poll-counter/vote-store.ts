import { createHash } from "node:crypto";
import type { CountedVote, Hold, PollDefinition, Tally, Vote, VoteOutcome, VoteRefusal } from "./poll-counter.protocol.ts";

/** How long a definition that is being changed may keep votes for an answer away, should the change never come. */
const HOLD_MS = 10_000;

/** Begins what stands for the id of an account that is gone. */
const FORGOTTEN = "-";

type Known = { n: number; answerId: string; requestId: string; created: number };

/** A vote and its place in the order of counting. */
export interface StoredVote extends CountedVote {
  seq: number;
}

/** The votes of one counter, in its own storage; the tally is kept in memory and counted anew after a restart. */
export class VoteStore {
  readonly #storage: DurableObjectStorage;
  readonly #tally = new Map<string, number>();
  #poll: PollDefinition | undefined;
  #written: number;
  /** Whether there are votes of accounts that are gone. */
  #forgets: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS votes (
        seq INTEGER PRIMARY KEY, account_id TEXT NOT NULL, n INTEGER NOT NULL, answer_id TEXT NOT NULL,
        request_id TEXT NOT NULL, created INTEGER NOT NULL, UNIQUE (account_id, n)
      )`);
    this.#poll = storage.kv.get<PollDefinition>("poll");
    this.#written = storage.kv.get<number>("written") ?? 0;
    // Ids are hexadecimal, which sorts behind the mark.
    this.#forgets = storage.sql.exec("SELECT 1 FROM votes WHERE account_id < '0' LIMIT 1").toArray().length > 0;
    const counts = "SELECT answer_id AS id, count(*) AS votes FROM votes GROUP BY answer_id";
    for (const { id, votes } of storage.sql.exec<{ id: string; votes: number }>(counts)) this.#tally.set(id, votes);
  }

  get poll(): PollDefinition | undefined {
    return this.#poll;
  }

  /** Takes a definition unless a later one is known; answers whether it is new. What was held for a change of an older one is free again. */
  define(poll: PollDefinition): boolean {
    if (this.#poll && this.#poll.version >= poll.version) return false;
    this.#keepHeld(({ version }) => version >= poll.version);
    this.#storage.kv.put("poll", poll);
    this.#poll = poll;
    return true;
  }

  /** Counts a vote, or says why not; one that is counted already gets the same answer. */
  count({ accountId, answerId, requestId }: Vote, now: number): VoteOutcome {
    const own = this.#votesOf(accountId);
    const same = own.find((vote) => vote.requestId === requestId && vote.answerId === answerId);
    if (same) return { ok: true, vote: { accountId, n: same.n, answerId, created: same.created } };
    const refusal = this.#refuse(answerId, own.length, now);
    if (refusal) return refusal;
    const vote = { accountId, n: own.length + 1, answerId, created: now };
    const insert = "INSERT INTO votes (account_id, n, answer_id, request_id, created) VALUES (?, ?, ?, ?, ?)";
    this.#storage.sql.exec(insert, accountId, vote.n, answerId, requestId, now);
    this.#tally.set(answerId, (this.#tally.get(answerId) ?? 0) + 1);
    return { ok: true, vote };
  }

  /** Keeps votes for these answers away until a newer definition, or for 10 s; answers how many they have. */
  hold(hold: Hold, now: number): number {
    this.#storage.kv.put("held", [...this.#held(now), { ...hold, until: now + HOLD_MS }]);
    return hold.answerIds.reduce((sum, id) => sum + (this.#tally.get(id) ?? 0), 0);
  }

  /** Ends what one request has held. */
  release(by: string): void {
    this.#keepHeld((hold) => hold.by !== by);
  }

  tally(): Tally {
    return Object.fromEntries(this.#tally);
  }

  of(accountId: string): CountedVote[] {
    const votes = "SELECT account_id AS accountId, n, answer_id AS answerId, created FROM votes WHERE account_id = ? ORDER BY n";
    return this.#storage.sql.exec<CountedVote & Record<string, SqlStorageValue>>(votes, accountId).toArray();
  }

  /** The oldest votes that the database doesn't have yet. */
  unwritten(limit: number): StoredVote[] {
    const votes = "SELECT seq, account_id AS accountId, n, answer_id AS answerId, created FROM votes WHERE seq > ? ORDER BY seq LIMIT ?";
    return this.#storage.sql.exec<StoredVote & Record<string, SqlStorageValue>>(votes, this.#written, limit).toArray();
  }

  /** Notes that the database has all votes up to this one. */
  wrote(seq: number): void {
    if (seq <= this.#written) return;
    this.#storage.kv.put("written", seq);
    this.#written = seq;
  }

  /** Keeps an account's votes, but not whose they were: only somebody who knows the id can tell. So nobody votes anew by being deleted. */
  forget(accountId: string): void {
    if (accountId.startsWith(FORGOTTEN)) return;
    this.#storage.sql.exec("UPDATE votes SET account_id = ?, request_id = '' WHERE account_id = ?", forgotten(accountId), accountId);
    this.#forgets = true;
  }

  /** Drops everything. */
  clear(): void {
    this.#storage.sql.exec("DELETE FROM votes");
    for (const key of ["poll", "written", "held"]) this.#storage.kv.delete(key);
    this.#tally.clear();
    this.#poll = undefined;
    this.#written = 0;
  }

  #votesOf(accountId: string): Known[] {
    const votes = "SELECT n, answer_id AS answerId, request_id AS requestId, created FROM votes WHERE account_id = ?";
    const own = this.#storage.sql.exec<Known>(votes, accountId).toArray();
    if (own.length > 0 || !this.#forgets) return own;
    return this.#storage.sql.exec<Known>(votes, forgotten(accountId)).toArray();
  }

  #refuse(answerId: string, responses: number, now: number): VoteOutcome | undefined {
    const poll = this.#poll;
    if (!poll) return refused("not_found", "Poll not found");
    if (!poll.answers.some((answer) => answer.id === answerId)) return refused("not_found", "The poll has no such answer");
    if (!poll.open) return refused("poll_closed", "The poll is closed");
    if (responses >= poll.responsesPerViewer) return refused("already_answered", "You have answered this poll already");
    if (this.#held(now).some(({ answerIds }) => answerIds.includes(answerId)))
      return refused("conflict", "The poll's answers are being changed; try again");
    return undefined;
  }

  #held(now: number): (Hold & { until: number })[] {
    return (this.#storage.kv.get<(Hold & { until: number })[]>("held") ?? []).filter(({ until }) => until > now);
  }

  #keepHeld(keeps: (hold: Hold) => boolean): void {
    this.#storage.kv.put("held", (this.#storage.kv.get<Hold[]>("held") ?? []).filter(keeps));
  }
}

function refused(code: VoteRefusal, message: string): VoteOutcome {
  return { ok: false, code, message };
}

function forgotten(accountId: string): string {
  return FORGOTTEN + createHash("sha256").update(accountId).digest("hex");
}
