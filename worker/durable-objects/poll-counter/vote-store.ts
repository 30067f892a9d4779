import { createHash } from "node:crypto";
import { migrate } from "#worker/durable-objects/migrations.ts";
import type {
  CountedVote,
  Hold,
  PendingVote,
  PollDefinition,
  Tally,
  Vote,
  VoteErrorCode,
  VoteOutcome,
  VotePayment,
} from "./poll-counter.protocol.ts";

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
  `ALTER TABLE votes ADD COLUMN charged INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE votes ADD COLUMN balance INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE pending (
    account_id TEXT PRIMARY KEY, n INTEGER NOT NULL, answer_id TEXT NOT NULL, request_id TEXT NOT NULL, created INTEGER NOT NULL,
    channel_id TEXT NOT NULL, cost INTEGER NOT NULL)`,
];

const PENDING = `SELECT account_id AS accountId, n, answer_id AS answerId, request_id AS requestId, created, channel_id AS channelId, cost
  FROM pending`;

type OwnVote = { n: number; answerId: string; requestId: string; created: number; charged: number; balance: number };

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
  /** How many votes have yet to be paid for. */
  #pending = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#poll = storage.kv.get<PollDefinition>("poll");
    this.#written = storage.kv.get<number>("written") ?? 0;
    this.#hasTable = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'votes'").toArray().length > 0;
    if (!this.#hasTable) return;
    this.#createTable();
    // Ids are hexadecimal and sort after the prefix.
    this.#hasAnonymous = storage.sql.exec("SELECT 1 FROM votes WHERE account_id < '0' LIMIT 1").toArray().length > 0;
    this.#pending = this.pending().length;
    const counts = "SELECT answer_id AS id, count(*) AS votes FROM votes GROUP BY answer_id";
    for (const { id, votes } of storage.sql.exec<{ id: string; votes: number }>(counts)) this.#tally.set(id, votes);
  }

  get poll(): PollDefinition | undefined {
    return this.#poll;
  }

  get hasPending(): boolean {
    return this.#pending > 0;
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
  count(vote: Vote, now: number): VoteOutcome {
    const { accountId, answerId, requestId, channelId = "" } = vote;
    const own = this.#votesOf(accountId);
    const known = this.#repeated(vote, own) ?? this.#check(vote, own.length, now);
    if (known) return known;
    return this.#insert({ accountId, n: own.length + 1, answerId, created: now, requestId, channelId });
  }

  /** Stores a vote that has yet to be paid for, or returns why it doesn't count. The account must have no other. */
  reserve(vote: Vote, now: number): VoteOutcome | PendingVote {
    const { accountId, answerId, requestId, channelId = "" } = vote;
    const own = this.#votesOf(accountId);
    const known = this.#repeated(vote, own) ?? this.#check(vote, own.length, now);
    if (known) return known;
    const pending = { accountId, n: own.length + 1, answerId, requestId, created: now, channelId, cost: vote.cost ?? 0 };
    this.#storage.sql.exec("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?)", ...Object.values(pending));
    this.#pending++;
    return pending;
  }

  /** Votes that have yet to be paid for, of all accounts or of one. */
  pending(accountId?: string): PendingVote[] {
    if (!this.#hasTable) return [];
    const { sql } = this.#storage;
    type Row = PendingVote & Record<string, SqlStorageValue>;
    return (accountId === undefined ? sql.exec<Row>(PENDING) : sql.exec<Row>(`${PENDING} WHERE account_id = ?`, accountId)).toArray();
  }

  /** Counts a vote that was paid for. */
  countPaid(pending: PendingVote, payment: VotePayment): VoteOutcome {
    return this.#storage.transactionSync(() => {
      if (!this.drop(pending)) return rejected("not_found", "Poll not found");
      return this.#insert(pending, payment);
    });
  }

  /** Forgets a vote that wasn't paid for; false if it is gone already. */
  drop({ accountId, requestId }: PendingVote): boolean {
    const remove = "DELETE FROM pending WHERE account_id = ? AND request_id = ? RETURNING account_id";
    const removed = this.#storage.sql.exec(remove, accountId, requestId).toArray();
    this.#pending = this.pending().length;
    return removed.length > 0;
  }

  /** Rejects votes for these answers until a newer definition, or for 10 s; returns how many they have. */
  hold(hold: Hold, now: number): number {
    this.#storage.kv.put("held", [...this.#held(now), { ...hold, until: now + HOLD_MS }]);
    const pending = this.pending().filter(({ answerId }) => hold.answerIds.includes(answerId)).length;
    return hold.answerIds.reduce((sum, id) => sum + (this.#tally.get(id) ?? 0), pending);
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
    this.#storage.sql.exec("DELETE FROM pending WHERE account_id = ?", accountId);
    this.#pending = this.pending().length;
    this.#hasAnonymous = true;
  }

  /** Anonymizes the votes of up to `limit` accounts, unless the poll is open; returns whether there may be more. */
  anonymizeMore(limit: number): boolean {
    if (!this.#hasTable || this.#poll?.open) return false;
    // Ids are hexadecimal and sort after the prefix.
    const accounts = "SELECT DISTINCT account_id AS id FROM votes WHERE account_id >= '0' LIMIT ?";
    const found = this.#storage.sql.exec<{ id: string }>(accounts, limit).toArray();
    for (const { id } of found) this.anonymize(id);
    return found.length === limit;
  }

  /** Deletes everything. */
  clear(): void {
    if (this.#hasTable) this.#storage.sql.exec("DELETE FROM votes; DELETE FROM pending");
    for (const key of ["poll", "written", "paid", "held"]) this.#storage.kv.delete(key);
    this.#tally.clear();
    this.#pending = 0;
    this.#poll = undefined;
    this.#written = 0;
  }

  #createTable(): void {
    migrate(this.#storage, "votes", SCHEMA);
    this.#hasTable = true;
  }

  #votesOf(accountId: string): OwnVote[] {
    if (!this.#hasTable) return [];
    const votes = "SELECT n, answer_id AS answerId, request_id AS requestId, created, charged, balance FROM votes WHERE account_id = ?";
    const own = this.#storage.sql.exec<OwnVote>(votes, accountId).toArray();
    if (own.length > 0 || !this.#hasAnonymous) return own;
    return this.#storage.sql.exec<OwnVote>(votes, anonymousId(accountId)).toArray();
  }

  /** The outcome of a vote that is counted already. */
  #repeated({ accountId, answerId, requestId }: Vote, own: OwnVote[]): VoteOutcome | undefined {
    const same = own.find((vote) => vote.requestId === requestId && vote.answerId === answerId);
    if (!same) return undefined;
    const { n, created, charged, balance } = same;
    return { ok: true, vote: { accountId, n, answerId, created }, ...(charged > 0 && { payment: { charged, balance } }) };
  }

  #insert({ accountId, n, answerId, created, requestId, channelId }: Omit<PendingVote, "cost">, payment?: VotePayment): VoteOutcome {
    const { charged, balance } = payment ?? { charged: 0, balance: 0 };
    const insert = `INSERT INTO votes (account_id, n, answer_id, request_id, created, channel_id, charged, balance)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    this.#storage.sql.exec(insert, accountId, n, answerId, requestId, created, channelId, charged, balance);
    this.#tally.set(answerId, (this.#tally.get(answerId) ?? 0) + 1);
    return { ok: true, vote: { accountId, n, answerId, created }, ...(payment && { payment }) };
  }

  #check({ answerId, cost = 0 }: Vote, responses: number, now: number): VoteOutcome | undefined {
    const poll = this.#poll;
    if (!poll) return rejected("not_found", "Poll not found");
    if (!poll.answers.some((answer) => answer.id === answerId)) return rejected("not_found", "The poll has no such answer");
    if (!poll.open) return rejected("poll_closed", "The poll is closed");
    if (now >= (poll.locksAt ?? Infinity)) return rejected("poll_closed", "The poll is locked");
    if (responses >= poll.responsesPerViewer) return rejected("already_answered", "You have answered this poll already");
    if (this.#held(now).some(({ answerIds }) => answerIds.includes(answerId)))
      return rejected("conflict", "The poll's answers are being changed; try again");
    const { responseCost = 0 } = poll;
    return cost === responseCost ? undefined : rejected("conflict", `A response to this poll costs ${responseCost}`);
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
