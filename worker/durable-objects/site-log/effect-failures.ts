import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { reportEffectFailures } from "#worker/services/operations/effect-failures.ts";
import { clip } from "#worker/lib/well-formed.ts";
import type { FailedEffect, FailureSummary } from "./site-log.protocol.ts";

/** State of an event's effects, in the `done` column of `events`. Failed ones have a row in `retries`, and in `failures` their cause. */
export const TO_DO = 0;
export const DONE = 1;
export const FAILED = 2;
/** Given up; `failures` has the cause. */
export const ABANDONED = 3;

export const RETRY_MS = 5_000;
/** The longest interval between two retries. */
const MAX_RETRY_MS = 60 * 60 * 1000;
/** Attempts at an effect whose event it can't read, which only another release can fix. */
const MAX_UNREADABLE = 24;
const MAX_CAUSE = 2_000;
const MAX_COUNTED = 1000;
const REPORT_TIMEOUT_MS = 5_000;
const REPORTED = "reportedFailures";

/** The effects of a site's log that failed: when each is retried, why it failed, and what the operator is shown. */
export class EffectFailures {
  readonly #env: Env;
  readonly #siteId: string;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** The last summary that D1 has, as JSON; undefined until it is read. */
  #reported: string | undefined;

  constructor(env: Env, siteId: string, storage: DurableObjectStorage) {
    this.#env = env;
    this.#siteId = siteId;
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** When the next retry is due; Infinity without any. */
  due(): number {
    return this.#sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM retries").one().due ?? Infinity;
  }

  /** The effects of these events are done. */
  resolve(sequences: number[]): void {
    if (sequences.length === 0) return;
    const list = JSON.stringify(sequences);
    this.#storage.transactionSync(() => {
      this.#sql.exec(`UPDATE events SET done = ${DONE} WHERE sequence IN (SELECT value FROM json_each(?))`, list);
      const { rowsWritten } = this.#sql.exec("DELETE FROM retries WHERE sequence IN (SELECT value FROM json_each(?))", list);
      if (rowsWritten > 0) this.#sql.exec("DELETE FROM failures WHERE sequence IN (SELECT value FROM json_each(?))", list);
    });
  }

  /** Schedules a retry with exponential backoff. */
  retryLater(sequence: number, cause: string): void {
    const now = Date.now();
    this.#sql.exec(`UPDATE events SET done = ${FAILED} WHERE sequence = ?`, sequence);
    this.#sql.exec(
      `INSERT INTO retries VALUES (?1, 1, ?2 + ?3)
       ON CONFLICT DO UPDATE SET tries = tries + 1, due = ?2 + min(?3 << min(tries, 20), ?4)`,
      ...[sequence, now, RETRY_MS, MAX_RETRY_MS],
    );
    this.#sql.exec("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", sequence, clip(cause, MAX_CAUSE), now);
  }

  /** Gives up an effect that couldn't read its event several times. */
  abandonIfHopeless(sequence: number): void {
    const { tries } = this.#sql.exec<{ tries: number }>("SELECT tries FROM retries WHERE sequence = ?", sequence).one();
    if (tries < MAX_UNREADABLE) return;
    this.#sql.exec(`UPDATE events SET done = ${ABANDONED} WHERE sequence = ?`, sequence);
    this.#sql.exec("DELETE FROM retries WHERE sequence = ?", sequence);
  }

  /** Makes all of them due now, including those that were given up; returns how many. */
  makeDue(): number {
    return this.#storage.transactionSync(() => {
      const abandoned = `done = ${ABANDONED} AND sequence IN (SELECT sequence FROM failures)`;
      this.#sql.exec(`INSERT OR IGNORE INTO retries SELECT sequence, 0, 0 FROM events WHERE ${abandoned}`);
      this.#sql.exec(`UPDATE events SET done = ${FAILED} WHERE ${abandoned}`);
      this.#sql.exec("UPDATE retries SET due = 0");
      return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM retries").one().count;
    });
  }

  list(limit: number): FailedEffect[] {
    const rows = this.#sql.exec<FailedEffect & Record<string, SqlStorageValue>>(
      `SELECT id, type, resource, sequence, created, coalesce(tries, ${MAX_UNREADABLE}) AS attempts, due, coalesce(cause, '') AS cause
       FROM (SELECT sequence FROM retries UNION SELECT sequence FROM failures)
       JOIN events USING (sequence) LEFT JOIN retries USING (sequence) LEFT JOIN failures USING (sequence)
       ORDER BY sequence LIMIT ?`,
      limit,
    );
    return rows.toArray();
  }

  /** Writes the summary to D1 if it has changed. Without failures it costs nothing; the next round repeats a report that fails. */
  async report(): Promise<void> {
    this.#reported ??= this.#storage.kv.get<string>(REPORTED) ?? "null";
    const summary = this.#summary();
    const text = JSON.stringify(summary);
    if (text === this.#reported) return;
    const reported = reportEffectFailures(this.#env, this.#siteId, summary, Date.now());
    if (
      (await withTimeout(reported, REPORT_TIMEOUT_MS).then(
        () => true,
        () => false,
      )) === false
    )
      return;
    this.#storage.kv.put(REPORTED, text);
    this.#reported = text;
  }

  #summary(): FailureSummary | null {
    const counts = this.#sql
      .exec<{ failing: number; abandoned: number }>(
        `SELECT (SELECT count(*) FROM (SELECT 1 FROM retries LIMIT ${MAX_COUNTED})) AS failing, (SELECT count(*) FROM
           (SELECT 1 FROM failures WHERE sequence NOT IN (SELECT sequence FROM retries) LIMIT ${MAX_COUNTED})) AS abandoned`,
      )
      .one();
    if (counts.failing + counts.abandoned === 0) return null;
    const about = this.#sql
      .exec<{ oldest: number | null; cause: string | null }>(
        `SELECT (SELECT created FROM events JOIN (SELECT sequence FROM retries UNION SELECT sequence FROM failures) USING (sequence)
           ORDER BY sequence LIMIT 1) AS oldest, (SELECT cause FROM failures ORDER BY at DESC LIMIT 1) AS cause`,
      )
      .one();
    return { ...counts, oldest: about.oldest ?? 0, cause: about.cause ?? "" };
  }
}
