/** Numbers that are set aside at once. */
const BLOCK = 10_000;

/**
 * Numbers the events of a queue. They are set aside in blocks, by the counter of the table whose own rows have the same numbers, so that an
 * earlier release, which knows only that table, continues after them.
 */
export class QueueNumbers {
  readonly #sql: SqlStorage;
  readonly #table: string;
  /** The next number, and the last that is set aside. */
  #known: { next: number; last: number } | undefined;

  constructor(sql: SqlStorage, table: string) {
    this.#sql = sql;
    this.#table = table;
  }

  /** The first of `count` numbers. `end`: the least that may be free, read only after a start. */
  take(count: number, end: () => number): number {
    const { next, last } = (this.#known ??= { next: end(), last: this.#setAside() });
    const after = next + count;
    if (after > last) this.#setAsideUpTo(after + BLOCK);
    this.#known = { next: after, last: after > last ? after + BLOCK : last };
    return next;
  }

  /** Has to be called when a transaction is rolled back. */
  forget(): void {
    this.#known = undefined;
  }

  #setAside(): number {
    const [row] = this.#sql.exec<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = ?", this.#table).toArray();
    if (!row) this.#sql.exec("INSERT INTO sqlite_sequence VALUES (?, 0)", this.#table);
    return row?.seq ?? 0;
  }

  #setAsideUpTo(last: number): void {
    this.#sql.exec("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", last, this.#table);
  }
}
