import { createHash } from "node:crypto";
import { migrate } from "#worker/durable-objects/migrations.ts";
import {
  type AwardOutcome,
  type BeyondPoints,
  type LedgerEntry,
  MAX_TOTAL,
  type NewAward,
  type OwnAward,
  type OwnStanding,
  type RankPage,
  type RankPosition,
  type Standing,
} from "./leaderboard.protocol.ts";
import { BucketChanges, BUCKETS_TABLE, PointBuckets } from "./point-buckets.ts";

const DAY = 86_400_000;
/** Prefix of the hash that replaces the id of a deleted account; ids are hexadecimal. */
const ERASED = "-";
/** The character after it. */
const AFTER_ERASED = ".";

// `precedence` is the negated `seq` of the award with which a member reached its points, so that one index has the order of the ranks.
const SCHEMA = [
  `CREATE TABLE awards (
    seq INTEGER PRIMARY KEY, member INTEGER NOT NULL, points INTEGER NOT NULL, reason TEXT NOT NULL, rule TEXT,
    cause TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (member, cause));
  CREATE UNIQUE INDEX awards_key ON awards (cause) WHERE rule IS NULL;
  CREATE TABLE members (id INTEGER PRIMARY KEY, account TEXT NOT NULL UNIQUE, points INTEGER NOT NULL, precedence INTEGER NOT NULL);
  CREATE INDEX members_rank ON members (points, precedence);
  ${BUCKETS_TABLE};
  CREATE TABLE daily (member INTEGER NOT NULL, rule TEXT NOT NULL, day INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (member, rule, day)) WITHOUT ROWID;
  CREATE TABLE erased (account TEXT PRIMARY KEY) WITHOUT ROWID`,
  // Members whose points have crossed a threshold with the award `seq`.
  "CREATE TABLE crossed (member INTEGER PRIMARY KEY, seq INTEGER NOT NULL)",
  // Erasure used to keep the causes.
  `UPDATE awards SET reason = '', cause = 'erased/' || seq WHERE member IN (SELECT id FROM members WHERE account GLOB '${ERASED}*');
  DELETE FROM daily WHERE member IN (SELECT id FROM members WHERE account GLOB '${ERASED}*')`,
];

type Member = { id: number; account: string; points: number; precedence: number };
type Known = { account: string; points: number; total: number };

/** A board's awards, and what follows from them: the members' points and ranks. Everything else can be rebuilt from the awards. */
export class Ledger {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #buckets: PointBuckets;
  #hasErased: boolean;
  #thresholds: number[];

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    migrate(storage, "ledger", SCHEMA);
    this.#buckets = new PointBuckets(storage.sql);
    this.#hasErased = this.#sql.exec("SELECT 1 FROM erased LIMIT 1").toArray().length > 0;
    this.#thresholds = storage.kv.get<number[]>("thresholds") ?? [];
  }

  /** Records awards in one transaction; each has an outcome of its own. */
  award(awards: NewAward[]): AwardOutcome[] {
    return this.#storage.transactionSync(() => {
      const changes = new BucketChanges();
      const outcomes = awards.map((award) => this.#record(award, changes));
      this.#buckets.apply(changes);
      return outcomes;
    });
  }

  /** What the awards with causes `<cause>@<version>` add up to for an account. */
  sumOf(accountId: string, cause: string): number {
    const select = `SELECT coalesce(sum(awards.points), 0) AS sum FROM members JOIN awards ON member = id
      WHERE account = ? AND cause > ? AND cause < ?`;
    // The character after "@" is "A".
    return this.#sql.exec<{ sum: number }>(select, accountId, `${cause}@`, `${cause}A`).one().sum;
  }

  /**
   * Removes a deleted account's id, and the reasons and causes of its awards: an `awardId` may contain a name, and other causes are ids of
   * what the account did. The points stay. Later awards for it are rejected.
   */
  erase(accountId: string): void {
    const pseudonym = pseudonymOf(accountId);
    this.#storage.transactionSync(() => {
      this.#sql.exec("INSERT OR IGNORE INTO erased VALUES (?)", pseudonym);
      const own = "member = (SELECT id FROM members WHERE account = ?)";
      // No other cause starts like this: those of keys start with "award/".
      this.#sql.exec(`UPDATE awards SET reason = '', cause = 'erased/' || seq WHERE ${own}`, accountId);
      this.#sql.exec(`DELETE FROM daily WHERE ${own}`, accountId);
      this.#sql.exec("UPDATE members SET account = ? WHERE account = ?", pseudonym, accountId);
    });
    this.#hasErased = true;
  }

  /** The points of these accounts; those without any are missing. */
  pointsOf(accountIds: string[]): Record<string, number> {
    const select = "SELECT account, points FROM members WHERE account IN (SELECT value FROM json_each(?))";
    const rows = this.#sql.exec<{ account: string; points: number }>(select, JSON.stringify(accountIds)).toArray();
    return Object.fromEntries(rows.map(({ account, points }) => [account, points]));
  }

  /** Who has at least these points or, if they are 0, fewer. The count takes the same few rows however many members there are. */
  beyond(points: number, limit: number): BeyondPoints {
    const least = Math.ceil(points);
    const isBeyond = least > 0 ? "points >= ?" : "points < ?";
    const members = least > 0 ? this.#buckets.ahead(least - 1) : this.#buckets.total() - this.#buckets.ahead(-1);
    const ofErased = `SELECT count(*) AS n FROM members WHERE account >= '${ERASED}' AND account < '${AFTER_ERASED}' AND ${isBeyond}`;
    const erased = this.#hasErased ? this.#sql.exec<{ n: number }>(ofErased, least).one().n : 0;
    if (members > limit) return { members: members - erased, accountIds: null };
    const rows = this.#sql.exec<{ account: string }>(`SELECT account FROM members WHERE ${isBeyond}`, least).toArray();
    return { members: members - erased, accountIds: rows.flatMap(({ account }) => idOrNull(account) ?? []) };
  }

  /** From now on, notes whose points cross one of these numbers. */
  watch(thresholds: number[]): void {
    this.#storage.kv.put("thresholds", thresholds);
    this.#thresholds = thresholds;
    if (thresholds.length === 0) this.#sql.exec("DELETE FROM crossed");
  }

  /** The accounts that have crossed a threshold and weren't removed by `forgetCrossed`, and the position that this list is of. */
  crossed(limit: number): { accountIds: string[]; upTo: number } {
    const select = "SELECT account, crossed.seq AS seq FROM crossed JOIN members ON id = member ORDER BY crossed.seq LIMIT ?";
    const rows = this.#sql.exec<{ account: string; seq: number }>(select, limit).toArray();
    return { accountIds: rows.flatMap(({ account }) => idOrNull(account) ?? []), upTo: rows.at(-1)?.seq ?? 0 };
  }

  /** Those who have crossed one again since keep their place. */
  forgetCrossed(upTo: number): void {
    this.#sql.exec("DELETE FROM crossed WHERE seq <= ?", upTo);
  }

  get hasCrossed(): boolean {
    return this.#thresholds.length > 0 && this.#sql.exec("SELECT 1 FROM crossed LIMIT 1").toArray().length > 0;
  }

  /** An account's awards whose cause comes after this one. */
  awardsOf(accountId: string, after: string, limit: number): OwnAward[] {
    const select = `SELECT at, awards.points AS points, rule, cause, reason FROM awards
      WHERE member = (SELECT id FROM members WHERE account = ?) AND cause > ? ORDER BY cause LIMIT ?`;
    return this.#sql.exec<OwnAward & Record<string, SqlStorageValue>>(select, accountId, after, limit).toArray();
  }

  /** The causes of an account's awards that start like this. */
  causesOf(accountId: string, prefix: string): string[] {
    const select = "SELECT cause FROM awards WHERE member = (SELECT id FROM members WHERE account = ?) AND cause >= ? AND cause < ?";
    const end = `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
    return this.#sql
      .exec<{ cause: string }>(select, accountId, prefix, end)
      .toArray()
      .map(({ cause }) => cause);
  }

  /** How often a rule has counted for an account on the day of this moment (ms). */
  timesOnDay(accountId: string, rule: string, at: number): number {
    const select = "SELECT n FROM daily WHERE member = (SELECT id FROM members WHERE account = ?) AND rule = ? AND day = ?";
    return this.#sql.exec<{ n: number }>(select, accountId, rule, Math.floor(at / DAY)).toArray()[0]?.n ?? 0;
  }

  /** A page of the ranks, after a position or from an offset. */
  page(from: { after: RankPosition } | { offset: number }, limit: number): RankPage {
    const rows = "after" in from ? this.#after(from.after, limit + 1) : this.#from(from.offset, limit + 1);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      standings: this.#ranked(shown),
      members: this.#buckets.total(),
      next: last ? { points: last.points, precedence: last.precedence } : null,
    };
  }

  /** An account's own rank, with the members just before and after it. */
  around(accountId: string, neighbours: number): OwnStanding {
    const own = this.#member(accountId);
    if (!own) return { own: null, before: [], after: [], members: this.#buckets.total() };
    const select = `SELECT * FROM members WHERE (points, precedence) > (?, ?) ORDER BY points, precedence LIMIT ?`;
    const before = this.#sql.exec<Member>(select, own.points, own.precedence, neighbours).toArray().reverse();
    const standings = this.#ranked([...before, own, ...this.#after(own, neighbours)]);
    return {
      own: standings[before.length] ?? null,
      before: standings.slice(0, before.length),
      after: standings.slice(before.length + 1),
      members: this.#buckets.total(),
    };
  }

  /** The awards after a position of the ledger, in its order. */
  entries(after: number, limit: number): LedgerEntry[] {
    const select = `SELECT seq, at, member, account, awards.points AS points, rule, cause, reason FROM awards JOIN members ON id = member
      WHERE seq > ? ORDER BY seq LIMIT ?`;
    const rows = this.#sql.exec<Omit<LedgerEntry, "accountId"> & { account: string }>(select, after, limit).toArray();
    return rows.map(({ account, ...entry }) => ({ ...entry, accountId: idOrNull(account) }));
  }

  /** Computes members and buckets from the awards again. */
  rebuild(): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec(`UPDATE members SET points = (SELECT sum(points) FROM awards WHERE member = id),
        precedence = (SELECT -max(seq) FROM awards WHERE member = id)`);
      this.#sql.exec("DELETE FROM buckets");
      const changes = new BucketChanges();
      for (const { points } of this.#sql.exec<{ points: number }>("SELECT points FROM members")) changes.moved(null, points);
      this.#buckets.apply(changes);
    });
  }

  #record({ accountId, points, reason, cause, at, rule, times = 1 }: NewAward, changes: BucketChanges): AwardOutcome {
    if (this.#hasErased && this.#isErased(accountId)) return { ok: false, code: "not_found", message: "The account no longer exists" };
    const member = this.#member(accountId);
    const known = rule === null ? this.#awardOf(cause) : member && this.#awardTo(member, cause);
    if (known) return rule === null ? repeated(known, accountId, points) : { ok: true, total: known.total, repeated: true };
    const total = (member?.points ?? 0) + points;
    if (Math.abs(total) > MAX_TOTAL) return { ok: false, code: "conflict", message: `The total would exceed ${MAX_TOTAL} points` };
    const id = member?.id ?? this.#newMember(accountId);
    if (rule?.perDay !== undefined && !this.#withinDay(id, { rule: rule.on, at, perDay: rule.perDay, times }))
      return { ok: false, code: "conflict", message: "The rule's limit per day is reached" };
    const insert = "INSERT INTO awards (member, points, reason, rule, cause, at) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq";
    const { seq } = this.#sql.exec<{ seq: number }>(insert, id, points, reason, rule?.on ?? null, cause, at).one();
    this.#sql.exec("UPDATE members SET points = ?, precedence = ? WHERE id = ?", total, -seq, id);
    changes.moved(member?.points ?? null, total);
    if (this.#crosses(member?.points ?? 0, total)) this.#sql.exec("INSERT OR REPLACE INTO crossed VALUES (?, ?)", id, seq);
    return { ok: true, total, repeated: false };
  }

  #member(accountId: string): Member | undefined {
    return this.#sql.exec<Member>("SELECT * FROM members WHERE account = ?", accountId).toArray()[0];
  }

  #newMember(accountId: string): number {
    const insert = "INSERT INTO members (account, points, precedence) VALUES (?, 0, 0) RETURNING id";
    return this.#sql.exec<{ id: number }>(insert, accountId).one().id;
  }

  #awardOf(cause: string): Known | undefined {
    const select = `SELECT account, awards.points AS points, members.points AS total FROM awards JOIN members ON id = member
      WHERE cause = ? AND rule IS NULL`;
    return this.#sql.exec<Known>(select, cause).toArray()[0];
  }

  #awardTo({ id, account, points: total }: Member, cause: string): Known | undefined {
    const [award] = this.#sql.exec<{ points: number }>("SELECT points FROM awards WHERE member = ? AND cause = ?", id, cause).toArray();
    return award && { account, points: award.points, total };
  }

  #crosses(before: number, after: number): boolean {
    return this.#thresholds.some((threshold) => before < threshold !== after < threshold);
  }

  /** Counts an award of a rule for the day, unless it exceeds the day's limit. */
  #withinDay(member: number, { rule, at, perDay, times }: { rule: string; at: number; perDay: number; times: number }): boolean {
    if (times > perDay) return false;
    const count = `INSERT INTO daily VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET n = n + ?4 WHERE n + ?4 <= ?5`;
    return this.#sql.exec(count, member, rule, Math.floor(at / DAY), times, perDay).rowsWritten > 0;
  }

  #isErased(accountId: string): boolean {
    return this.#sql.exec("SELECT 1 FROM erased WHERE account = ?", pseudonymOf(accountId)).toArray().length > 0;
  }

  #after({ points, precedence }: RankPosition, limit: number): Member[] {
    const select = `SELECT * FROM members WHERE (points, precedence) < (?, ?) ORDER BY points DESC, precedence DESC LIMIT ?`;
    return this.#sql.exec<Member>(select, points, precedence, limit).toArray();
  }

  #from(offset: number, limit: number): Member[] {
    const start = this.#buckets.pointsAt(offset);
    if (!start) return [];
    const select = `SELECT * FROM members WHERE points <= ? ORDER BY points DESC, precedence DESC LIMIT ? OFFSET ?`;
    return this.#sql.exec<Member>(select, start.points, limit, start.within).toArray();
  }

  /** The ranks of consecutive members: counted for the first, then from one number of points to the next. */
  #ranked(members: Member[]): Standing[] {
    let rank = 0;
    let points: number | undefined;
    return members.map((member) => {
      if (points === undefined) rank = this.#buckets.ahead(member.points) + 1;
      else if (member.points !== points) rank += this.#buckets.at(points);
      points = member.points;
      return { rank, accountId: idOrNull(member.account), points };
    });
  }
}

function repeated(known: Known, accountId: string, points: number): AwardOutcome {
  if (known.account === accountId && known.points === points) return { ok: true, total: known.total, repeated: true };
  return { ok: false, code: "conflict", message: "This award was recorded before, for another account or with other points" };
}

function pseudonymOf(accountId: string): string {
  return ERASED + createHash("sha256").update(accountId).digest("hex").slice(0, 32);
}

function idOrNull(account: string): string | null {
  return account.startsWith(ERASED) ? null : account;
}
