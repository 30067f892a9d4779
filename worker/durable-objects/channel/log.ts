import { z } from "@hono/zod-openapi";
import { randomHex } from "#worker/lib/ids.ts";
import { segmentLabel } from "#worker/lib/segments.ts";
import { pageOf } from "#worker/durable-objects/call-size.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import {
  Broadcast,
  type Cleared,
  ClearTarget,
  type ClientRules,
  type FramePage,
  type LogFrame,
  type SiteCommand,
} from "./channel.protocol.ts";
import { MAX_VIDEO_LATENCY_MS } from "#worker/durable-objects/relay/relay.protocol.ts";
import { END_CLEARED, END_ENDED, isPersonal, PERSONAL_FRAMES } from "./personal.ts";
import { Recording, RECORDING_IDS, RECORDING_SCHEMA } from "./recording.ts";

const KEEP_AT_LEAST = 1_000;
const KEEP_AT_MOST = 10_000;
const KEEP_MS = 24 * 3_600_000;
/** Longer than any broadcast lasts, so that a late retry can never show it again. */
const REMEMBER_MS = 48 * 3_600_000;
const PRUNE_EVERY = 256;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS frames (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL, tags TEXT, shows TEXT, until INTEGER, clears TEXT, rule TEXT);
  CREATE TABLE IF NOT EXISTS broadcasts (
    broadcast_id TEXT PRIMARY KEY, overlay_id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, ends_at INTEGER NOT NULL,
    until INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0, tags TEXT, body TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS applied (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, seq INTEGER NOT NULL, starts_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, ids TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS rules (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, source TEXT NOT NULL, body TEXT NOT NULL)`,
  RECORDING_SCHEMA,
  RECORDING_IDS,
  PERSONAL_FRAMES,
  ({ sql }: DurableObjectStorage) => void sql.exec(END_ENDED, Date.now()),
];

const Ids = z.array(z.string());
const FrameRule = z.object({ id: z.string(), active: z.boolean() });
const RuleData = z.record(z.string(), z.unknown());

const FRAMES = "SELECT seq, at, body, tags, shows, until, clears, rule, personal FROM frames";

type FrameRow = {
  seq: number;
  at: number;
  body: string;
  tags: string | null;
  shows: string | null;
  until: number | null;
  clears: string | null;
  rule: string | null;
  personal: number;
};
type AppliedRow = { seq: number; starts_at: number; ends_at: number; ids: string };

/** A frame before it is stored; `body` is built once the position is known. */
interface Draft {
  at: number;
  body: (seq: number) => string;
  tags?: string[] | null;
  shows?: { broadcastId: string; until: number; personal: boolean };
  clears?: string[];
  rule?: LogFrame["rule"];
}

/** The channel's append-only log, its active broadcasts, and the commands already applied. All calls are synchronous: one turn, one commit. */
export class ChannelLog {
  readonly epoch: string;
  readonly recording: Recording;
  readonly #storage: DurableObjectStorage;
  #position: number;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    migrate(storage, "log", SCHEMA);
    this.recording = new Recording(storage.sql);
    this.epoch = storage.kv.get<string>("epoch") ?? this.#newEpoch();
    this.#position = storage.sql.exec<{ seq: number }>("SELECT coalesce(max(seq), 0) AS seq FROM frames").one().seq;
  }

  /** Position of the last frame; 0 before the first. */
  get head(): number {
    return this.#position;
  }

  /** Records a broadcast once. One that has already ended is not logged. */
  publish(broadcast: Broadcast, now: number): { seq: number; startsAt: number; endsAt: number } {
    const known = this.#appliedBefore(broadcast.broadcastId);
    if (known) return { seq: known.seq, startsAt: known.starts_at, endsAt: known.ends_at };
    const { broadcastId, overlayId, startsAt, endsAt } = broadcast;
    // Not remembered: a delayed broadcast may be sent again with a later end.
    if (endsAt <= now) return { seq: this.#position, startsAt, endsAt };
    const { userSegment, personal: isMarked = false, ...shown } = broadcast;
    const personal = isMarked || isPersonal(shown.contents);
    const tags = userSegment === undefined ? (broadcast.segment?.tags ?? null) : [segmentLabel(userSegment)];
    const until = broadcast.timecode === undefined ? endsAt : endsAt + MAX_VIDEO_LATENCY_MS;
    this.#commit(() => {
      const body = (seq: number) => JSON.stringify({ type: "overlay.show", seq, upTo: seq, ...shown });
      const frame = this.#append({ at: now, body, tags, shows: { broadcastId, until, personal } });
      this.#storage.sql.exec(
        "INSERT INTO broadcasts (broadcast_id, overlay_id, seq, at, ends_at, until, tags, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        broadcastId,
        overlayId,
        frame.seq,
        now,
        endsAt,
        until,
        tags && JSON.stringify(tags),
        frame.body,
      );
      if (tags === null && !personal) this.recording.add(frame.seq, broadcast, frame.body);
      this.#remember(broadcastId, now, { startsAt, endsAt });
    });
    return { seq: this.#position, startsAt, endsAt };
  }

  /**
   * Removes broadcasts, idempotent by `id`. Those published after `before` (ms) stay, unless listed. Ids that were never published are
   * recorded as ended, so that a publish overtaken by its clear isn't shown.
   */
  clear(id: string, target: ClearTarget, now: number, before = now): Cleared {
    const known = this.#appliedBefore(id);
    if (known) return { seq: known.seq, broadcastIds: Ids.parse(JSON.parse(known.ids)) };
    this.#deleteExpired(now);
    const broadcastIds = this.#matching(target, before);
    this.#commit(() => {
      if ("broadcastIds" in target) {
        for (const missing of target.broadcastIds ?? []) if (!this.#appliedBefore(missing)) this.#remember(missing, now, {});
      }
      this.#removeBroadcasts(broadcastIds, now);
      this.#remember(id, now, { ids: broadcastIds });
    });
    return { seq: this.#position, broadcastIds };
  }

  /** Applies a command to all channels of the site, once. */
  apply({ id, at, kind, body }: SiteCommand, now: number): void {
    const content: unknown = JSON.parse(body);
    if (kind === "publish") this.publish(Broadcast.parse(content), now);
    else this.clear(id, ClearTarget.parse(content), now, at);
  }

  /** Whether the channel shows a broadcast, or its recording has it. */
  has(broadcastId: string): boolean {
    const active = this.#storage.sql.exec("SELECT seq FROM broadcasts WHERE broadcast_id = ?", broadcastId).toArray();
    return active.length > 0 || this.recording.has(broadcastId);
  }

  /** Removes a broadcast from screens and the recording, idempotent by `id`: no viewer receives it any more, also one who goes back. */
  retract(id: string, broadcastId: string, now: number): void {
    if (this.#appliedBefore(id)) return;
    this.#commit(() => {
      const shown = this.#appliedBefore(broadcastId);
      if (shown) this.#storage.sql.exec("UPDATE frames SET until = 0, personal = 1 WHERE seq = ? AND shows = ?", shown.seq, broadcastId);
      else this.#remember(broadcastId, now, {});
      this.recording.delete(broadcastId);
      this.#removeBroadcasts([broadcastId], now);
      this.#remember(id, now, { ids: [broadcastId] });
    });
  }

  /** A broadcast's position in the log; null if it was never logged. */
  positionOf(broadcastId: string): number | null {
    return this.#appliedBefore(broadcastId)?.seq ?? null;
  }

  /** Appends an event, idempotent by `id`; returns its position. */
  event(id: string, type: string, data: unknown, now: number): number {
    const known = this.#appliedBefore(id);
    if (known) return known.seq;
    this.#commit(() => {
      this.#append({ at: now, body: (seq) => JSON.stringify({ type, seq, upTo: seq, data }) });
      this.#remember(id, now, {});
    });
    return this.#position;
  }

  /** Removes streams' URLs from the frames, because the channel is restricted from now on. Safe to repeat. */
  redactUrls(): void {
    this.#storage.sql.exec(
      `UPDATE frames SET body = json_set(body, '$.data.playbackUrl', NULL, '$.data.gated', json('true'))
        WHERE body GLOB '{"type":"stream.*' AND json_extract(body, '$.data.playbackUrl') IS NOT NULL`,
    );
  }

  /** Replaces the active client rules and logs a frame for each that is new, changed or gone. Ignores a version that isn't newer. */
  setRules({ version, rules }: Omit<ClientRules, "paused">, now: number): void {
    if (version <= (this.#storage.kv.get<number>("rulesVersion") ?? 0)) return;
    const known = new Map(
      this.#storage.sql
        .exec<{ id: string; source: string }>("SELECT id, source FROM rules")
        .toArray()
        .map((row) => [row.id, row.source]),
    );
    this.#commit(() => {
      for (const { id, body } of rules) {
        if (known.get(id) !== body) this.#appendRule(id, body, true, now);
        known.delete(id);
      }
      for (const [id, body] of known) this.#appendRule(id, body, false, now);
      this.#storage.kv.put("rulesVersion", version);
    });
  }

  /** The active client rules, as frames. */
  rules(): LogFrame[] {
    return this.#storage.sql
      .exec<{ id: string; seq: number; body: string }>("SELECT id, seq, body FROM rules ORDER BY seq")
      .toArray()
      .map(({ id, seq, body }) => ({ seq, body, tags: null, shows: null, clears: [], rule: { id, active: true } }));
  }

  /** Logs one frame with the broadcasts that have ended by `now`. */
  expire(now: number): void {
    const { sql } = this.#storage;
    this.#commit(() => {
      const rows = sql.exec<{ broadcast_id: string }>(
        "UPDATE broadcasts SET ended = 1 WHERE ended = 0 AND ends_at <= ? RETURNING broadcast_id",
        now,
      );
      const broadcastIds = rows.toArray().map((row) => row.broadcast_id);
      if (broadcastIds.length > 0) {
        this.#append({ at: now, body: (seq) => JSON.stringify({ type: "overlay.clear", seq, upTo: seq, broadcastIds, ended: true }) });
      }
      this.#deleteExpired(now);
    });
  }

  /** When the next broadcast ends, or what viewers wrote must go (ms), or null. */
  nextEnd(): number | null {
    const ends = `SELECT min(at) AS at FROM (SELECT min(ends_at) AS at FROM broadcasts WHERE ended = 0
      UNION ALL SELECT min(until) FROM frames WHERE personal = 1)`;
    return this.#storage.sql.exec<{ at: number | null }>(ends).one().at;
  }

  /** Bodies of the active broadcasts, in log order. */
  active(now: number): string[] {
    return this.#storage.sql
      .exec<{ body: string }>("SELECT body FROM broadcasts WHERE ends_at > ? ORDER BY seq", now)
      .toArray()
      .map(({ body }) => body);
  }

  /**
   * The frames that a new viewer receives: active broadcasts, and just-ended ones for delayed video. In log order, a page of those after
   * `seq` and up to `head`.
   */
  offered(now: number, seq: number, head: number): FramePage {
    const rows = this.#storage.sql.exec<FrameRow>(
      `SELECT seq, at, body, tags, broadcast_id AS shows, until, NULL AS clears, NULL AS rule, 0 AS personal FROM broadcasts
        WHERE until > ? AND seq > ? AND seq <= ? ORDER BY seq`,
      now,
      seq,
      head,
    );
    const { page, more } = pageOf(rows);
    return { frames: page.map(toFrame), more };
  }

  /** A page of at most `limit` frames after `seq`, or null if the log doesn't reach back that far, or `seq` is past its end. */
  framesAfter(seq: number, limit: number): LogFrame[] | null {
    if (seq > this.#position) return null;
    const rows = this.#storage.sql.exec<FrameRow>(`${FRAMES} WHERE seq > ? ORDER BY seq LIMIT ?`, seq, limit);
    const { page } = pageOf(rows);
    const first = page[0];
    return first && first.seq !== seq + 1 ? null : page.map(toFrame);
  }

  /** The last frames, at most `limit` and as many as fit into one call. */
  tail(limit: number): LogFrame[] {
    const rows = this.#storage.sql.exec<FrameRow>(`${FRAMES} ORDER BY seq DESC LIMIT ?`, limit);
    return pageOf(rows).page.map(toFrame).reverse();
  }

  /** Applies retention: keeps 24 hours of frames, at least 1,000 and at most 10,000. */
  prune(now: number): void {
    const { sql } = this.#storage;
    sql.exec(
      "DELETE FROM frames WHERE seq <= ? OR (seq <= ? AND at < ?)",
      this.#position - KEEP_AT_MOST,
      this.#position - KEEP_AT_LEAST,
      now - KEEP_MS,
    );
    sql.exec("DELETE FROM applied WHERE at < ?", now - REMEMBER_MS);
    this.recording.prune(now);
  }

  /** All or nothing, including the position in memory. */
  #commit(write: () => void): void {
    const before = this.#position;
    try {
      this.#storage.transactionSync(write);
    } catch (error) {
      this.#position = before;
      throw error;
    }
  }

  #append(draft: Draft): { seq: number; body: string } {
    const seq = this.#position + 1;
    const body = draft.body(seq);
    this.#storage.sql.exec(
      "INSERT INTO frames (seq, at, body, tags, shows, until, clears, rule, personal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      seq,
      draft.at,
      body,
      draft.tags ? JSON.stringify(draft.tags) : null,
      draft.shows?.broadcastId ?? null,
      draft.shows?.until ?? null,
      draft.clears ? JSON.stringify(draft.clears) : null,
      draft.rule ? JSON.stringify(draft.rule) : null,
      draft.shows?.personal ? 1 : 0,
    );
    this.#position = seq;
    if (seq % PRUNE_EVERY === 0) this.prune(draft.at);
    return { seq, body };
  }

  #deleteExpired(now: number): void {
    this.#storage.sql.exec("DELETE FROM broadcasts WHERE ended = 1 AND until <= ?", now);
    this.#storage.sql.exec(END_ENDED, now);
  }

  #appendRule(id: string, source: string, active: boolean, now: number): void {
    const data = { ...RuleData.parse(JSON.parse(source)), active };
    const body = (at: number) => JSON.stringify({ type: "rule", seq: at, upTo: at, data });
    const frame = this.#append({ at: now, body, rule: { id, active } });
    this.#storage.sql.exec("DELETE FROM rules WHERE id = ?", id);
    if (active) this.#storage.sql.exec("INSERT INTO rules (id, seq, source, body) VALUES (?, ?, ?, ?)", id, frame.seq, source, frame.body);
  }

  #removeBroadcasts(broadcastIds: string[], now: number): void {
    if (broadcastIds.length === 0) return;
    this.recording.cut(broadcastIds, now);
    const ids = JSON.stringify(broadcastIds);
    this.#storage.sql.exec("DELETE FROM broadcasts WHERE broadcast_id IN (SELECT value FROM json_each(?))", ids);
    this.#storage.sql.exec(END_CLEARED, ids);
    this.#append({
      at: now,
      body: (seq) => JSON.stringify({ type: "overlay.clear", seq, upTo: seq, broadcastIds }),
      clears: broadcastIds,
    });
  }

  /** Ids of the matching broadcasts. Those listed match whenever they were published. */
  #matching(target: ClearTarget, before: number): string[] {
    const named = JSON.stringify("broadcastIds" in target ? (target.broadcastIds ?? []) : []);
    const overlayId = "overlayId" in target ? target.overlayId : null;
    const select = `SELECT broadcast_id FROM broadcasts
      WHERE broadcast_id IN (SELECT value FROM json_each(?)) OR (at <= ? AND (? OR overlay_id = ?)) ORDER BY seq`;
    const rows = this.#storage.sql.exec<{ broadcast_id: string }>(select, named, before, "all" in target ? 1 : 0, overlayId);
    return rows.toArray().map((row) => row.broadcast_id);
  }

  #appliedBefore(id: string): AppliedRow | undefined {
    return this.#storage.sql.exec<AppliedRow>("SELECT seq, starts_at, ends_at, ids FROM applied WHERE id = ?", id).toArray()[0];
  }

  #remember(id: string, now: number, result: { startsAt?: number; endsAt?: number; ids?: string[] }): void {
    this.#storage.sql.exec(
      "INSERT INTO applied (id, at, seq, starts_at, ends_at, ids) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      now,
      this.#position,
      result.startsAt ?? now,
      result.endsAt ?? now,
      JSON.stringify(result.ids ?? []),
    );
  }

  #newEpoch(): string {
    const epoch = randomHex(8);
    this.#storage.kv.put("epoch", epoch);
    return epoch;
  }
}

function toFrame(row: FrameRow): LogFrame {
  const shows =
    row.shows !== null && row.until !== null
      ? { broadcastId: row.shows, at: row.at, until: row.until, personal: row.personal === 1 }
      : null;
  return {
    seq: row.seq,
    body: row.body,
    tags: row.tags === null ? null : Ids.parse(JSON.parse(row.tags)),
    shows,
    clears: row.clears === null ? [] : Ids.parse(JSON.parse(row.clears)),
    rule: row.rule === null ? null : FrameRule.parse(JSON.parse(row.rule)),
  };
}
