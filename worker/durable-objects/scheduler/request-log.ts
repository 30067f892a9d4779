import { migrate } from "#worker/durable-objects/migrations.ts";
import {
  LEAST_WAIT_MS,
  MOST_REQUESTS,
  MOST_WAIT_MS,
  type RecordedRequest,
  type RequestBatch,
  type RequestPage,
  type RequestQuery,
  REQUESTS_KEPT_MS,
} from "./request-log.protocol.ts";

const MINUTE_MS = 60_000;
/** Entries that are stored in a window; the batches of further ones only count. Bounds what a site's log can cost, at 20 rows a second. */
const WINDOW_MS = 5_000;
const PER_WINDOW = 100;
/** With more batches in a window, isolates wait longer before the next one; with fewer, less long. */
const MANY_BATCHES = 100;
const FEW_BATCHES = 25;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, method TEXT NOT NULL, route TEXT, operation_id TEXT,
    status INTEGER NOT NULL, ms INTEGER NOT NULL, request_id TEXT NOT NULL, code TEXT);
  CREATE TABLE IF NOT EXISTS request_minutes (
    minute INTEGER PRIMARY KEY, requests INTEGER NOT NULL, recorded INTEGER NOT NULL) WITHOUT ROWID`,
];

/** The requests of a site's last hour: a ring of the newest, and how many there were. */
export class RequestLog {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #window = { start: 0, stored: 0, batches: 0 };
  #waitMs = LEAST_WAIT_MS;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    migrate(storage, "requests", SCHEMA);
  }

  /** Stores what an isolate has served; returns how long it should collect before the next batch, ms. */
  add({ entries, requests }: RequestBatch, now: number): number {
    this.#rotate(now);
    const stored = entries.slice(0, Math.max(0, PER_WINDOW - this.#window.stored));
    this.#window.stored += stored.length;
    this.#window.batches++;
    this.#storage.transactionSync(() => {
      if (stored.length > 0) this.#insert(stored);
      const count = `INSERT INTO request_minutes VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, recorded = recorded + excluded.recorded`;
      this.#sql.exec(count, now - (now % MINUTE_MS), requests, stored.length);
      this.#prune(now);
    });
    return this.#waitMs;
  }

  /** A page of the requests, the newest first. */
  page({ statusClass, route, before, limit }: RequestQuery, now: number): RequestPage {
    const select = `SELECT number, at, method, route, operation_id AS operationId, status, ms, request_id AS requestId, code FROM requests
      WHERE at > ?1 AND (?2 IS NULL OR status / 100 = ?2) AND (?3 IS NULL OR route = ?3)
        AND (?4 IS NULL OR at < ?4 OR (at = ?4 AND number < ?5))
      ORDER BY at DESC, number DESC LIMIT ?6`;
    const position = [before?.at ?? null, before?.number ?? null];
    const rows = this.#sql
      .exec<RequestPage["rows"][number]>(select, now - REQUESTS_KEPT_MS, statusClass, route, ...position, limit)
      .toArray();
    const sums = `SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(recorded), 0) AS recorded
      FROM request_minutes WHERE minute > ?`;
    return { rows, ...this.#sql.exec<{ requests: number; recorded: number }>(sums, now - REQUESTS_KEPT_MS).one() };
  }

  /** Deletes what is too old; returns when all that is left will be, ms, or null if nothing is left. */
  expire(now: number): number | null {
    this.#storage.transactionSync(() => this.#prune(now));
    const newest = `SELECT max(at) AS at FROM (
      SELECT max(at) AS at FROM requests UNION ALL SELECT max(minute) FROM request_minutes)`;
    const { at } = this.#sql.exec<{ at: number | null }>(newest).one();
    return at === null ? null : at + REQUESTS_KEPT_MS;
  }

  #insert(entries: RecordedRequest[]): void {
    const fields = ["at", "method", "route", "operationId", "status", "ms", "requestId", "code"];
    const values = fields.map((field) => `value ->> '$.${field}'`).join(", ");
    const insert = `INSERT INTO requests (at, method, route, operation_id, status, ms, request_id, code) SELECT ${values} FROM json_each(?)`;
    this.#sql.exec(insert, JSON.stringify(entries));
  }

  #prune(now: number): void {
    this.#sql.exec("DELETE FROM requests WHERE number <= (SELECT max(number) FROM requests) - ?", MOST_REQUESTS);
    this.#sql.exec("DELETE FROM requests WHERE at <= ?", now - REQUESTS_KEPT_MS);
    this.#sql.exec("DELETE FROM request_minutes WHERE minute <= ?", now - REQUESTS_KEPT_MS);
  }

  /** Begins a new window, and adapts the isolates' wait to how many batches there were in the last one. */
  #rotate(now: number): void {
    if (now - this.#window.start < WINDOW_MS) return;
    if (this.#window.batches > MANY_BATCHES) this.#waitMs = Math.min(2 * this.#waitMs, MOST_WAIT_MS);
    else if (this.#window.batches < FEW_BATCHES) this.#waitMs = Math.max(this.#waitMs / 2, LEAST_WAIT_MS);
    this.#window = { start: now, stored: 0, batches: 0 };
  }
}
