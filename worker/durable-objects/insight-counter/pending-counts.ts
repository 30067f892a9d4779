import { migrate } from "#worker/durable-objects/migrations.ts";
import type { CountedImpressions } from "#worker/services/insights/rollup.ts";

/** Rows that wait for the next flush: distinct things that were shown, however often. Some of each network may be new. */
const MAX_ROWS = 2_000;
const MAX_ROWS_PER_NETWORK = 100;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS pending (
    flush INTEGER NOT NULL, channel_id TEXT NOT NULL, hour INTEGER NOT NULL, kind TEXT NOT NULL, target_id TEXT NOT NULL,
    broadcast_id TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (flush, channel_id, hour, kind, target_id, broadcast_id)) WITHOUT ROWID`,
];

type Row = CountedImpressions & Record<string, SqlStorageValue>;

/** Counts that aren't in the database yet, in the object's storage. A flush is taken once, with its number, and kept until it is written. */
export class PendingCounts {
  readonly #storage: DurableObjectStorage;
  /** The rows since the last flush, and how many of them each network added. */
  readonly #rows: Set<string>;
  #added = new Map<string, number>();

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    migrate(storage, "pending", SCHEMA);
    this.#rows = new Set(this.#select(0).map(keyOf));
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Adds counts of one network; drops those that would need more rows than it may add. */
  add(counted: CountedImpressions[], network: string): void {
    const insert = `INSERT INTO pending VALUES (0, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value`;
    this.#storage.transactionSync(() => {
      for (const { channelId, hour, kind, targetId, broadcastId, value } of counted)
        if (this.#admit(keyOf({ channelId, hour, kind, targetId, broadcastId }), network))
          this.#storage.sql.exec(insert, channelId, hour, kind, targetId, broadcastId, value);
    });
  }

  /** The flush that is to be written: one that was taken before and may have failed, or all that has been counted since. */
  take(): { flush: number; rows: CountedImpressions[] } | null {
    const { taken } = this.#storage.sql.exec<{ taken: number | null }>("SELECT max(flush) AS taken FROM pending").one();
    if (taken === null) return null;
    if (taken > 0) return { flush: taken, rows: this.#select(taken) };
    const flush = (this.#storage.kv.get<number>("flush") ?? 0) + 1;
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec("UPDATE pending SET flush = ? WHERE flush = 0", flush);
      this.#storage.kv.put("flush", flush);
    });
    this.#rows.clear();
    this.#added = new Map();
    return { flush, rows: this.#select(flush) };
  }

  /** Forgets a flush that is in the database. */
  written(flush: number): void {
    this.#storage.sql.exec("DELETE FROM pending WHERE flush = ?", flush);
  }

  #admit(key: string, network: string): boolean {
    if (this.#rows.has(key)) return true;
    const added = this.#added.get(network) ?? 0;
    if (this.#rows.size >= MAX_ROWS || added >= MAX_ROWS_PER_NETWORK) return false;
    this.#rows.add(key);
    this.#added.set(network, added + 1);
    return true;
  }

  #select(flush: number): CountedImpressions[] {
    const select = `SELECT channel_id AS channelId, hour, kind, target_id AS targetId, broadcast_id AS broadcastId, value
      FROM pending WHERE flush = ?`;
    return this.#storage.sql.exec<Row>(select, flush).toArray();
  }
}

function keyOf({ channelId, hour, kind, targetId, broadcastId }: Omit<CountedImpressions, "value">): string {
  return `${channelId} ${hour} ${kind} ${targetId} ${broadcastId}`;
}
