import { SiteObject } from "./site-object.ts";
import { z } from "@hono/zod-openapi";
import { logError } from "#worker/lib/log.ts";
import type { CueSource, FoundCue } from "#worker/services/manifests/cue-sources.ts";
import { migrate } from "./migrations.ts";

/** How often a live playlist is read, and one that will not change or can't be read. */
const LIVE_MS = 3_000;
const SLOW_MS = 60_000;
/** A cue that began longer ago when it is found is left out: what it would show would surprise the show. */
const MISSED_MS = 60_000;
/** A cue that begins later than this isn't kept: playlists announce minutes, not days. */
const AHEAD_MS = 3_600_000;
/** How long a cue is known after it was last in a playlist. */
const REMEMBER_MS = 7 * 24 * 3_600_000;
/** How many cues are known, the latest: ten times as many as a site's playlists can have at a time. */
export const MAX_SEEN = 20_000;
const FORGET_EVERY_MS = 60_000;
/** New cues of a source that one read passes on: each is an event for which rules run. The next reads find the others. */
export const MAX_NEW = 20;
const RETRY_MS = 1_000;

const loadCueSources = () => import("#worker/services/manifests/cue-sources.ts");

const SCHEMA = [
  `CREATE TABLE seen (key TEXT PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE pending (key TEXT PRIMARY KEY, due INTEGER NOT NULL, provider TEXT NOT NULL, event TEXT NOT NULL);
  CREATE TABLE sources (src TEXT PRIMARY KEY, next INTEGER NOT NULL, failures INTEGER NOT NULL)`,
];

const Event = z.record(z.string(), z.unknown());

/**
 * Reads the playlists whose cues a site has connected to its data providers, named by the site. Each cue becomes one event: it is stored as
 * seen and as pending together, is passed on under its own id, and leaves `pending` after that.
 */
export class CuePoller extends SiteObject {
  readonly #siteId: string;
  /** Incremented with the settings, so that a run which has read older ones is followed by another. */
  #revision = 0;
  /** When what is long gone is forgotten next (ms since 1970 UTC). */
  #forgetAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = ctx.id.name ?? "";
    migrate(ctx.storage, "cues", SCHEMA);
  }

  /** The site's settings have changed: reads its playlists now. */
  async sync(): Promise<void> {
    this.#revision++;
    this.ctx.storage.sql.exec("DELETE FROM sources");
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** Reads what is due and passes on what begins. Safe to run at any time; without sources, the last time. */
  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    const revision = this.#revision;
    try {
      const { readManifestSettings } = await loadCueSources();
      const { hosts, cues: sources } = await readManifestSettings(this.env, this.#siteId);
      sql.exec("DELETE FROM sources WHERE src NOT IN (SELECT value FROM json_each(?))", JSON.stringify(sources.map(({ src }) => src)));
      if (sources.length === 0) return void sql.exec("DELETE FROM pending");
      await Promise.all(sources.map((source) => this.#poll(source, hosts)));
      await this.#passOn();
      this.#forget(Date.now());
      await this.ctx.storage.setAlarm(revision === this.#revision ? this.#next() : Date.now());
    } catch (error) {
      logError("cues_not_read", error, { siteId: this.#siteId });
      await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    }
  }

  /** Reads a source's playlist if it is due. One that can't be read is tried less and less often. */
  async #poll(source: CueSource, hosts: string[]): Promise<void> {
    const { sql } = this.ctx.storage;
    const known = sql.exec<{ next: number; failures: number }>("SELECT next, failures FROM sources WHERE src = ?", source.src).toArray()[0];
    if (known && known.next > Date.now()) return;
    let failures = 0;
    let wait = LIVE_MS;
    try {
      const { readCues } = await loadCueSources();
      const { cues, isLive } = await readCues(this.env, source, hosts);
      const isComplete = this.#store(cues, source.dataProviderId, Date.now());
      if (!isLive && isComplete) wait = SLOW_MS;
    } catch (error) {
      failures = (known?.failures ?? 0) + 1;
      wait = Math.min(SLOW_MS, LIVE_MS * 2 ** Math.min(failures, 10));
      // Once per outage: a stream that is off has no playlist for hours.
      if (failures === 1) logError("cue_source_unavailable", error, { siteId: this.#siteId });
    }
    sql.exec("INSERT OR REPLACE INTO sources (src, next, failures) VALUES (?, ?, ?)", source.src, Date.now() + wait, failures);
  }

  /** Returns whether there are no more new ones than one read passes on. */
  #store(cues: FoundCue[], providerId: string, now: number): boolean {
    let room = MAX_NEW;
    this.ctx.storage.transactionSync(() => {
      const { sql } = this.ctx.storage;
      for (const { key, startsAt, event } of cues) {
        const due = startsAt ?? now;
        // Announced too early: it is found again.
        if (due > now + AHEAD_MS) continue;
        const isNew = sql.exec("UPDATE seen SET at = ? WHERE key = ? RETURNING key", now, key).toArray().length === 0;
        const isMissed = due < now - MISSED_MS;
        if (!isNew || (!isMissed && --room < 0)) continue;
        sql.exec("INSERT INTO seen (key, at) VALUES (?, ?)", key, now);
        if (isMissed) continue;
        sql.exec("INSERT INTO pending (key, due, provider, event) VALUES (?, ?, ?, ?)", key, due, providerId, JSON.stringify(event));
      }
    });
    return room >= 0;
  }

  async #passOn(): Promise<void> {
    const { sql } = this.ctx.storage;
    const due = sql
      .exec<{ key: string; due: number; provider: string; event: string }>(
        "SELECT * FROM pending WHERE due <= ? ORDER BY due, key",
        Date.now(),
      )
      .toArray();
    const { ingestCue } = await loadCueSources();
    for (const { key, due: startsAt, provider, event } of due) {
      const cue = { key, startsAt, event: Event.parse(JSON.parse(event)) };
      const rejection = await ingestCue(this.env, this.#siteId, provider, cue);
      if (rejection !== undefined) logError("cue_rejected", new Error(rejection), { siteId: this.#siteId, providerId: provider });
      sql.exec("DELETE FROM pending WHERE key = ?", key);
    }
  }

  #forget(now: number): void {
    if (now < this.#forgetAt) return;
    this.#forgetAt = now + FORGET_EVERY_MS;
    const { sql } = this.ctx.storage;
    sql.exec("DELETE FROM seen WHERE at < ?", now - REMEMBER_MS);
    sql.exec("DELETE FROM seen WHERE key IN (SELECT key FROM seen ORDER BY at DESC LIMIT -1 OFFSET ?)", MAX_SEEN);
  }

  #next(): number {
    const { sql } = this.ctx.storage;
    const { at } = sql
      .exec<{ at: number }>("SELECT min(at) AS at FROM (SELECT next AS at FROM sources UNION SELECT due FROM pending)")
      .one();
    return Math.max(at, Date.now());
  }
}
