/** Longer than it takes from the look-up of a viewer's right to the report of its relay. */
const REMEMBER_MS = 120_000;
/** Accounts that one round of calls is about. */
const AT_ONCE = 1_000;

type Row = { account_id: string; number: number; at: number };

/** Accounts whose rights have changed, until every relay that may have them has looked again, and a while longer for those on the way in. */
export class SiteRechecks {
  readonly #sql: SqlStorage;
  readonly #recent = new Map<string, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`
      CREATE TABLE IF NOT EXISTS rechecks (
        account_id TEXT PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL, pending INTEGER NOT NULL) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS rechecks_pending ON rechecks (number) WHERE pending = 1;`);
    for (const { account_id: accountId, at } of sql.exec<Row>("SELECT account_id, number, at FROM rechecks"))
      this.#recent.set(accountId, at);
  }

  /** Notes that the rights of these accounts have changed. */
  add(accountIds: string[], now: number): void {
    const { next } = this.#sql.exec<{ next: number }>("SELECT coalesce(max(number), 0) + 1 AS next FROM rechecks").one();
    const insert = `INSERT INTO rechecks (account_id, number, at, pending) SELECT value, ?, ?, 1 FROM json_each(?) WHERE true
      ON CONFLICT (account_id) DO UPDATE SET number = excluded.number, at = excluded.at, pending = 1`;
    this.#sql.exec(insert, next, now, JSON.stringify([...new Set(accountIds)]));
    for (const accountId of accountIds) this.#recent.set(accountId, now);
  }

  /** The oldest that are yet to be looked at. */
  pending(): { accountIds: string[]; upTo: number } {
    const select = "SELECT account_id, number, at FROM rechecks WHERE pending = 1 ORDER BY number LIMIT ?";
    const rows = this.#sql.exec<Row>(select, AT_ONCE).toArray();
    return { accountIds: rows.map((row) => row.account_id), upTo: rows.at(-1)?.number ?? 0 };
  }

  /** Every relay has looked at these; those that have changed again since stay pending. */
  done({ accountIds, upTo }: { accountIds: string[]; upTo: number }): void {
    const update = "UPDATE rechecks SET pending = 0 WHERE number <= ? AND account_id IN (SELECT value FROM json_each(?))";
    this.#sql.exec(update, upTo, JSON.stringify(accountIds));
  }

  /** Accounts that have changed of late. */
  recent(now: number): string[] {
    return [...this.#recent].flatMap(([accountId, at]) => (at > now - REMEMBER_MS ? [accountId] : []));
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM rechecks WHERE pending = 0 AND at <= ?", now - REMEMBER_MS);
    for (const [accountId, at] of this.#recent) if (at <= now - REMEMBER_MS) this.#recent.delete(accountId);
  }
}
