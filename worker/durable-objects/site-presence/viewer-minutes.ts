import { migrate } from "#worker/durable-objects/migrations.ts";

const MINUTE_MS = 60_000;
const FIVE_MS = 5 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** How long single minutes are kept, and after that five minutes together. */
export const MINUTES_KEPT_MS = 26 * HOUR_MS;
export const FIVES_KEPT_MS = 8 * 24 * HOUR_MS;
/** Time between two writes of hours to the database. */
const FLUSH_MS = 5 * MINUTE_MS;
/** The channel id of the whole site. */
const SITE = "";

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS current_viewers (channel_id TEXT PRIMARY KEY, count INTEGER NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS viewer_minutes (
    channel_id TEXT NOT NULL, at INTEGER NOT NULL, peak INTEGER NOT NULL, viewer_ms INTEGER NOT NULL, PRIMARY KEY (channel_id, at)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS viewer_minutes_at ON viewer_minutes (at);
  CREATE TABLE IF NOT EXISTS viewer_fives (
    channel_id TEXT NOT NULL, at INTEGER NOT NULL, peak INTEGER NOT NULL, viewer_ms INTEGER NOT NULL, PRIMARY KEY (channel_id, at)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS viewer_fives_at ON viewer_fives (at)`,
];

/** A channel's viewers since a time, ms. */
interface Current {
  count: number;
  since: number;
}

/** A span of time: the most viewers at one moment, and the time that all viewers spent together, ms. */
export type Span = { at: number; peak: number; viewerMs: number };
export type ChannelSpan = Span & { channelId: string };

/**
 * The site's viewers per minute, by channel and together. Every change of a count is stored when it is known, so that an eviction or a
 * crash loses nothing that was known before.
 */
export class ViewerMinutes {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** How long a count holds that nobody confirms, ms. */
  readonly #trustMs: number;
  readonly #current = new Map<string, Current>();
  /** Whether the database lacks a part of the stored minutes. */
  #isDirty: boolean;
  #flushedAt: number;
  /** When a failed flush is tried again, ms. */
  #retryAt = 0;

  constructor(storage: DurableObjectStorage, trustMs: number) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#trustMs = trustMs;
    migrate(storage, "viewer-minutes", SCHEMA);
    const rows = this.#sql.exec<{ channelId: string; count: number; since: number }>(
      "SELECT channel_id AS channelId, count, since FROM current_viewers",
    );
    for (const { channelId, count, since } of rows) this.#current.set(channelId, { count, since });
    this.#flushedAt = storage.kv.get<number>("viewersFlushedAt") ?? 0;
    const { last } = this.#sql.exec<{ last: number | null }>("SELECT max(at) AS last FROM viewer_minutes").one();
    this.#isDirty = last !== null && last + MINUTE_MS > this.#flushedAt;
  }

  /** Records the viewers of every open channel; channels that aren't listed have none. Costs nothing unless a count or the minute changes. */
  observe(channels: Map<string, number>, now: number): void {
    const counts = new Map(channels);
    let total = 0;
    for (const count of channels.values()) total += count;
    counts.set(SITE, total);
    const news = [...new Set([...this.#current.keys(), ...counts.keys()])].filter((channelId) => this.#isNews(channelId, counts, now));
    if (news.length === 0) return;
    this.#isDirty = true;
    this.#storage.transactionSync(() => {
      for (const channelId of news) this.#follow(channelId, counts.get(channelId) ?? 0, now);
    });
  }

  /** The spans of a channel, or of the site, from `from` to `to`; `step` is a minute or a multiple of five. Without viewers there is none. */
  spans(channelId: string | null, { from, to, step }: { from: number; to: number; step: number }): Span[] {
    // A bound number is real, and a quotient of it too.
    const select = `SELECT at / CAST(?4 AS INTEGER) * CAST(?4 AS INTEGER) AS at, max(peak) AS peak, sum(viewer_ms) AS viewerMs FROM (
        SELECT at, peak, viewer_ms FROM viewer_minutes WHERE channel_id = ?1 AND at >= ?2 AND at < ?3 UNION ALL
        SELECT at, peak, viewer_ms FROM viewer_fives WHERE channel_id = ?1 AND at >= ?2 AND at < ?3)
      GROUP BY 1 ORDER BY 1`;
    return this.#sql.exec<Span>(select, channelId ?? SITE, from, to, step).toArray();
  }

  /** When the hours are to be written next, ms; Infinity if nothing has changed. */
  get flushDue(): number {
    return this.#isDirty ? Math.max(this.#flushedAt + FLUSH_MS, this.#retryAt) : Infinity;
  }

  /** The start of the first hour that isn't completely in the database, ms. */
  get unflushedFrom(): number {
    return this.#flushedAt - (this.#flushedAt % HOUR_MS);
  }

  /** The hours from there on, by channel. The empty channel id is the site. */
  unflushed(): ChannelSpan[] {
    const select = `SELECT channel_id AS channelId, at / ${HOUR_MS} * ${HOUR_MS} AS at, max(peak) AS peak, sum(viewer_ms) AS viewerMs
      FROM viewer_minutes WHERE at >= ? GROUP BY 1, 2`;
    return this.#sql.exec<ChannelSpan>(select, this.unflushedFrom).toArray();
  }

  markFlushed(now: number): void {
    this.#storage.kv.put("viewersFlushedAt", now);
    this.#flushedAt = now;
    this.#isDirty = this.#current.size > 0;
  }

  retryFlushAt(time: number): void {
    this.#retryAt = time;
  }

  /** Joins minutes that are older than their retention into five each, and deletes what is older than theirs. */
  prune(now: number): void {
    // Whole hours that are in the database, so that an hour is never written from a part of its minutes.
    const limit = Math.min(now - MINUTES_KEPT_MS, this.#flushedAt);
    const before = limit - (limit % HOUR_MS);
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `INSERT INTO viewer_fives SELECT channel_id, at / ${FIVE_MS} * ${FIVE_MS}, max(peak), sum(viewer_ms) FROM viewer_minutes
         WHERE at < ? GROUP BY 1, 2 ON CONFLICT DO NOTHING`,
        before,
      );
      this.#sql.exec("DELETE FROM viewer_minutes WHERE at < ?", before);
      this.#sql.exec("DELETE FROM viewer_fives WHERE at < ?", now - FIVES_KEPT_MS);
    });
  }

  #isNews(channelId: string, counts: Map<string, number>, now: number): boolean {
    const current = this.#current.get(channelId);
    const count = counts.get(channelId) ?? 0;
    if (!current || current.count !== count) return (current?.count ?? 0) !== count;
    return Math.floor(current.since / MINUTE_MS) !== Math.floor(now / MINUTE_MS);
  }

  /** Adds the time since a count was stored, and stores the new one. */
  #follow(channelId: string, count: number, now: number): void {
    const current = this.#current.get(channelId);
    // A count that nobody confirmed for long isn't believed to the end.
    if (current) this.#accrue(channelId, current.count, current.since, Math.min(now, current.since + this.#trustMs));
    if (count === 0) {
      this.#current.delete(channelId);
      this.#sql.exec("DELETE FROM current_viewers WHERE channel_id = ?", channelId);
      return;
    }
    this.#current.set(channelId, { count, since: now });
    const upsert = "INSERT INTO current_viewers VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET count = ?2, since = ?3";
    this.#sql.exec(upsert, channelId, count, now);
    this.#add(channelId, now, count, 0);
  }

  #accrue(channelId: string, count: number, from: number, to: number): void {
    for (let at = from; at < to;) {
      const end = Math.min(to, at - (at % MINUTE_MS) + MINUTE_MS);
      this.#add(channelId, at, count, count * (end - at));
      at = end;
    }
  }

  #add(channelId: string, time: number, peak: number, viewerMs: number): void {
    const insert = `INSERT INTO viewer_minutes VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET peak = max(peak, excluded.peak), viewer_ms = viewer_ms + excluded.viewer_ms`;
    this.#sql.exec(insert, channelId, time - (time % MINUTE_MS), peak, viewerMs);
  }
}
