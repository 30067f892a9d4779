import { pageOf } from "#worker/durable-objects/call-size.ts";
import { type Broadcast, EPOCH_TIMECODE, type RecordedFrame, type RecordingPage, type RecordingQuery } from "./channel.protocol.ts";

const KEEP_AT_MOST = 10_000;
const KEEP_MS = 400 * 24 * 3_600_000;
/** The longest broadcast: one that began earlier can't be on any more. */
const LONGEST_MS = 24 * 3_600_000;
/** How much text a page may have, in characters. */
const PAGE_CHARS = 1_000_000;

/** `at` and `ends` are on the recording's clock: when the picture showed what the broadcast is about. */
export const RECORDING_SCHEMA = `CREATE TABLE IF NOT EXISTS recording (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, ends INTEGER NOT NULL, starts_at INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS recording_at ON recording (at, seq, ends)`;

/** Finds a broadcast by its id, which is in its frame. */
export const RECORDING_IDS = `CREATE INDEX IF NOT EXISTS recording_broadcast ON recording (json_extract(body, '$.broadcastId'))`;

export const RECORDING_OF = "SELECT seq FROM recording WHERE json_extract(body, '$.broadcastId') = ?";

/** Reads the broadcasts from a position on in order of time, without those before it. */
export const RECORDING_PAGE = `SELECT seq, at, ends, body FROM recording INDEXED BY recording_at
  WHERE (at, seq) > (?, ?) AND at < ? AND ends > ? ORDER BY at, seq LIMIT ?`;

type RecordedRow = { [Column in keyof RecordedFrame]: RecordedFrame[Column] };

/** A channel's broadcasts to everybody, which recordings of its video show again. */
export class Recording {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add(seq: number, { startsAt, endsAt, timecode }: Broadcast, body: string): void {
    const at = timecode !== undefined && timecode >= EPOCH_TIMECODE ? Math.round(timecode * 1000) : startsAt;
    const ends = at + endsAt - startsAt;
    this.#sql.exec("INSERT INTO recording (seq, at, ends, starts_at, body) VALUES (?, ?, ?, ?, ?)", seq, at, ends, startsAt, body);
  }

  /** Broadcasts end when they were cleared. Call it while the channel still lists them. */
  cut(broadcastIds: string[], now: number): void {
    this.#sql.exec(
      `UPDATE recording SET ends = min(ends, at + max(0, ? - starts_at))
        WHERE seq IN (SELECT seq FROM broadcasts WHERE broadcast_id IN (SELECT value FROM json_each(?)))`,
      now,
      JSON.stringify(broadcastIds),
    );
  }

  /** A page of what was on between `from` and `to`, and isn't to come. */
  page({ from, to, after, limit }: RecordingQuery, now: number): RecordingPage {
    const [at, seq] = after ? [after.at, after.seq] : [from - LONGEST_MS, 0];
    const rows = this.#sql.exec<RecordedRow>(RECORDING_PAGE, at, seq, Math.min(to, now + 1), from, limit + 1);
    const { page, more } = pageOf(rows, PAGE_CHARS);
    return { frames: page.slice(0, limit), more: more || page.length > limit };
  }

  /** Applies retention: 400 days, and at most 10,000. */
  prune(now: number): void {
    this.#sql.exec("DELETE FROM recording WHERE at < ?", now - KEEP_MS);
    this.#sql.exec("DELETE FROM recording WHERE seq <= (SELECT seq FROM recording ORDER BY seq DESC LIMIT 1 OFFSET ?)", KEEP_AT_MOST);
  }

  has(broadcastId: string): boolean {
    return this.#sql.exec(RECORDING_OF, broadcastId).toArray().length > 0;
  }

  delete(broadcastId: string): void {
    this.#sql.exec(`DELETE FROM recording WHERE seq IN (${RECORDING_OF})`, broadcastId);
  }

  deleteAll(): void {
    this.#sql.exec("DELETE FROM recording");
  }
}
