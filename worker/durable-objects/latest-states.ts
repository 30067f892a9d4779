import { pageOf } from "./call-size.ts";
import type { StateChange } from "./channel/channel.protocol.ts";
import { migrate } from "./migrations.ts";

/** A state that hasn't changed for this long is no longer sent to new viewers. */
const KEEP_MS = 3_600_000;
/** How many states a new viewer receives at most, latest first; together they fit into one call. */
const SENT_AT_MOST = 20;
const SENT_CHARS = 100_000;

const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS states (key TEXT PRIMARY KEY, type TEXT NOT NULL, at INTEGER NOT NULL, body TEXT) WITHOUT ROWID",
];

type Row = { key: string; type: StateChange["type"]; at: number; body: string };

/** The latest state of each key, kept in storage for viewers who connect after it was sent. */
export class LatestStates {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    migrate(storage, "states", SCHEMA);
  }

  /** Stores a state; false if the stored one is as new. */
  put({ key, type, at, data }: StateChange, now: number): boolean {
    this.#sql.exec("DELETE FROM states WHERE at < ?", now - KEEP_MS);
    const write = `INSERT INTO states (key, type, at, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET type = excluded.type, at = excluded.at, body = excluded.body 
      WHERE excluded.at > states.at OR (excluded.at = states.at AND excluded.body IS NOT states.body)`;
    return this.#sql.exec(write, key, type, at, data).rowsWritten > 0;
  }

  /** The states for a new viewer, oldest first. */
  current(now: number): StateChange[] {
    const select = "SELECT key, type, at, body FROM states WHERE at >= ? AND body IS NOT NULL ORDER BY at DESC LIMIT ?";
    const rows = this.#sql.exec<Row>(select, now - KEEP_MS, SENT_AT_MOST);
    const { page } = pageOf(rows, SENT_CHARS);
    return page.map(({ body, ...state }) => ({ ...state, data: body })).reverse();
  }
}
