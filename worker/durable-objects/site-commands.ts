import { pageOf } from "./call-size.ts";
import type { Broadcast, ClearTarget, SiteCommand } from "./channel/channel.protocol.ts";
import { migrate } from "./migrations.ts";

/** The longest a broadcast can last. A clear older than this has nothing left to remove. */
const LONGEST_BROADCAST_MS = 86_400_000;

/** The channels that a broadcast reached stay readable until a day after its end. */
const KEEP_REACHED_MS = 86_400_000;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS commands (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL, kind TEXT NOT NULL, overlay_id TEXT, body TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS reached (
    broadcast_id TEXT NOT NULL, channel_id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (broadcast_id, channel_id)
  ) WITHOUT ROWID`,
];

/** A broadcast ended by a clear stays as `ended`, so that a retry can't show it again. */
type Row = { id: string; at: number; until: number; kind: "publish" | "clear" | "ended" };

type Command = { position: number; id: string; at: number; kind: "publish" | "clear"; body: string };

/** The site-wide broadcasts and clears, in order, that a channel still has to apply when it opens later. */
export class SiteCommands {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    migrate(storage, "commands", SCHEMA);
  }

  /** Records a broadcast once. Returns whether to show it: a clear may have ended it before a retry arrived. */
  publish(broadcast: Broadcast, now: number): boolean {
    const { broadcastId, overlayId, endsAt } = broadcast;
    this.#insert({ id: broadcastId, at: now, until: endsAt, kind: "publish" }, overlayId, broadcast);
    return this.#sql.exec("SELECT 1 FROM commands WHERE id = ? AND kind = 'publish'", broadcastId).toArray().length > 0;
  }

  /** Records a clear once. Channels that open later don't receive the broadcasts it removes. */
  clear(id: string, target: ClearTarget, now: number): void {
    const until = now + LONGEST_BROADCAST_MS;
    const known = this.#sql.exec("SELECT 1 FROM commands WHERE id = ?", id).toArray().length > 0;
    if (known) return;
    this.#insert({ id, at: now, until, kind: "clear" }, null, target);
    const end = "UPDATE commands SET kind = 'ended' WHERE kind = 'publish' AND";
    if ("all" in target) this.#sql.exec(`${end} true`);
    else if ("overlayId" in target) this.#sql.exec(`${end} overlay_id = ?`, target.overlayId);
    else this.#sql.exec(`${end} id IN (SELECT value FROM json_each(?))`, JSON.stringify(target.broadcastIds));
    const named = "broadcastIds" in target ? (target.broadcastIds ?? []) : [];
    for (const broadcastId of named) this.#insert({ id: broadcastId, at: now, until, kind: "ended" }, null, null);
  }

  /** The commands that a channel opening now has to apply, in order: the page after that position, and where the next page starts. */
  current(now: number, after: number): { commands: SiteCommand[]; next: number | null } {
    const select =
      "SELECT rowid AS position, id, at, kind, body FROM commands WHERE until > ? AND kind <> 'ended' AND rowid > ? ORDER BY rowid";
    const { page, more } = pageOf(this.#sql.exec<Command>(select, now, after));
    return {
      commands: page.map(({ id, at, kind, body }) => ({ id, at, kind, body })),
      next: more ? (page.at(-1)?.position ?? null) : null,
    };
  }

  /** Records that these channels received the active broadcasts, or only the given one. */
  markReached(channelIds: string[], now: number, broadcastId: string | null = null): void {
    const insert = `INSERT OR IGNORE INTO reached (broadcast_id, channel_id, until)
      SELECT commands.id, value, until + ? FROM commands, json_each(?)
      WHERE commands.kind = 'publish' AND until > ? AND commands.id = coalesce(?, commands.id)`;
    this.#sql.exec(insert, KEEP_REACHED_MS, JSON.stringify(channelIds), now, broadcastId);
  }

  /** The channels that received a broadcast. */
  reachedBy(broadcastId: string): string[] {
    const select = "SELECT channel_id AS id FROM reached WHERE broadcast_id = ?";
    return this.#sql
      .exec<{ id: string }>(select, broadcastId)
      .toArray()
      .map(({ id }) => id);
  }

  /** When the next command expires (ms), or null. */
  nextEnd(): number | null {
    return this.#sql.exec<{ at: number | null }>("SELECT min(until) AS at FROM commands").one().at;
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM commands WHERE until <= ?", now);
    this.#sql.exec("DELETE FROM reached WHERE until <= ?", now);
  }

  #insert({ id, at, until, kind }: Row, overlayId: string | null, body: unknown): void {
    const insert = "INSERT OR IGNORE INTO commands (id, at, until, kind, overlay_id, body) VALUES (?, ?, ?, ?, ?, ?)";
    this.#sql.exec(insert, id, at, until, kind, overlayId, JSON.stringify(body));
  }
}
