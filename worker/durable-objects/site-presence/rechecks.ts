import { migrate } from "#worker/durable-objects/migrations.ts";

/** Longer than the time between the lookup of a viewer's access and its relay's report. */
const REMEMBER_MS = 120_000;
/** Accounts per round of calls. */
const BATCH_SIZE = 1_000;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS rechecks (
    account_id TEXT PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL, pending INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS rechecks_pending ON rechecks (number) WHERE pending = 1`,
];

type Row = { account_id: string; number: number; at: number };

/** Accounts whose access has changed, until every relay that may have them has rechecked, and a while longer for viewers being admitted. */
export class SiteRechecks {
  readonly #sql: SqlStorage;
  readonly #recent = new Map<string, number>();

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    migrate(storage, "rechecks", SCHEMA);
    for (const { account_id: accountId, at } of this.#sql.exec<Row>("SELECT account_id, number, at FROM rechecks"))
      this.#recent.set(accountId, at);
  }

  /** Records that the access of these accounts has changed. */
  add(accountIds: string[], now: number): void {
    const { next } = this.#sql.exec<{ next: number }>("SELECT coalesce(max(number), 0) + 1 AS next FROM rechecks").one();
    const insert = `INSERT INTO rechecks (account_id, number, at, pending) SELECT value, ?, ?, 1 FROM json_each(?) WHERE true
      ON CONFLICT (account_id) DO UPDATE SET number = excluded.number, at = excluded.at, pending = 1`;
    this.#sql.exec(insert, next, now, JSON.stringify([...new Set(accountIds)]));
    for (const accountId of accountIds) this.#recent.set(accountId, now);
  }

  /** The oldest accounts that are still to be rechecked. */
  pending(): { accountIds: string[]; upTo: number } {
    const select = "SELECT account_id, number, at FROM rechecks WHERE pending = 1 ORDER BY number LIMIT ?";
    const rows = this.#sql.exec<Row>(select, BATCH_SIZE).toArray();
    return { accountIds: rows.map((row) => row.account_id), upTo: rows.at(-1)?.number ?? 0 };
  }

  /** Marks these as rechecked by every relay; those that have changed again since stay pending. */
  done({ accountIds, upTo }: { accountIds: string[]; upTo: number }): void {
    const update = "UPDATE rechecks SET pending = 0 WHERE number <= ? AND account_id IN (SELECT value FROM json_each(?))";
    this.#sql.exec(update, upTo, JSON.stringify(accountIds));
  }

  /** Accounts that have changed recently. */
  recent(now: number): string[] {
    return [...this.#recent].flatMap(([accountId, at]) => (at > now - REMEMBER_MS ? [accountId] : []));
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM rechecks WHERE pending = 0 AND at <= ?", now - REMEMBER_MS);
    for (const [accountId, at] of this.#recent) if (at <= now - REMEMBER_MS) this.#recent.delete(accountId);
  }
}
