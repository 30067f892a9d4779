import { pageOf } from "./call-size.ts";
import type { Broadcast, ClearTarget, SiteCommand } from "./channel/channel.protocol.ts";

/** No broadcast lasts longer, so a clear this old has nothing left to take off. */
const LONGEST_BROADCAST_MS = 86_400_000;

/** Where a broadcast has been is asked for until a day after its end. */
const REMEMBER_REACHED_MS = 86_400_000;

/** A broadcast that a clear has ended stays as `ended`, so that no repeat brings it back. */
type Row = { id: string; at: number; until: number; kind: "publish" | "clear" | "ended" };

type Command = { position: number; id: string; at: number; kind: "publish" | "clear"; body: string };

/** The site-wide broadcasts and clears that a channel which opens later still has to apply, in order. */
export class SiteCommands {
  private readonly sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.sql = storage.sql;
    this.sql.exec(`
      CREATE TABLE IF NOT EXISTS commands (
        id TEXT PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL, kind TEXT NOT NULL, overlay_id TEXT, body TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS reached (
        broadcast_id TEXT NOT NULL, channel_id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (broadcast_id, channel_id)
      ) WITHOUT ROWID`);
  }

  /** Records a broadcast once; answers whether it is to be shown, which a clear may have ended before a repeat of it came. */
  publish(broadcast: Broadcast, now: number): boolean {
    const { broadcastId, overlayId, endsAt } = broadcast;
    this.insert({ id: broadcastId, at: now, until: endsAt, kind: "publish" }, overlayId, broadcast);
    return this.sql.exec("SELECT 1 FROM commands WHERE id = ? AND kind = 'publish'", broadcastId).toArray().length > 0;
  }

  /** Records a clear once; from then on no channel that opens gets the broadcasts that it takes off. */
  clear(id: string, target: ClearTarget, now: number): void {
    const until = now + LONGEST_BROADCAST_MS;
    const known = this.sql.exec("SELECT 1 FROM commands WHERE id = ?", id).toArray().length > 0;
    if (known) return;
    this.insert({ id, at: now, until, kind: "clear" }, null, target);
    const end = "UPDATE commands SET kind = 'ended' WHERE kind = 'publish' AND";
    if ("all" in target) this.sql.exec(`${end} true`);
    else if ("overlayId" in target) this.sql.exec(`${end} overlay_id = ?`, target.overlayId);
    else this.sql.exec(`${end} id IN (SELECT value FROM json_each(?))`, JSON.stringify(target.broadcastIds));
    const named = "broadcastIds" in target ? (target.broadcastIds ?? []) : [];
    for (const broadcastId of named) this.insert({ id: broadcastId, at: now, until, kind: "ended" }, null, null);
  }

  /** What a channel has to apply that opens now, in order: the page after that position, and where the next one begins. */
  current(now: number, after: number): { commands: SiteCommand[]; next: number | null } {
    const select =
      "SELECT rowid AS position, id, at, kind, body FROM commands WHERE until > ? AND kind <> 'ended' AND rowid > ? ORDER BY rowid";
    const { page, more } = pageOf(this.sql.exec<Command>(select, now, after));
    return {
      commands: page.map(({ id, at, kind, body }) => ({ id, at, kind, body })),
      next: more ? (page.at(-1)?.position ?? null) : null,
    };
  }

  /** Notes that these channels have been brought what is on, or this one broadcast of it. */
  reach(channelIds: string[], now: number, broadcastId: string | null = null): void {
    const insert = `INSERT OR IGNORE INTO reached (broadcast_id, channel_id, until)
      SELECT commands.id, value, until + ? FROM commands, json_each(?)
      WHERE commands.kind = 'publish' AND until > ? AND commands.id = coalesce(?, commands.id)`;
    this.sql.exec(insert, REMEMBER_REACHED_MS, JSON.stringify(channelIds), now, broadcastId);
  }

  /** The channels that a broadcast was brought to. */
  reachedBy(broadcastId: string): string[] {
    const select = "SELECT channel_id AS id FROM reached WHERE broadcast_id = ?";
    return this.sql
      .exec<{ id: string }>(select, broadcastId)
      .toArray()
      .map(({ id }) => id);
  }

  /** When the next command is over (ms), or null. */
  nextEnd(): number | null {
    return this.sql.exec<{ at: number | null }>("SELECT min(until) AS at FROM commands").one().at;
  }

  prune(now: number): void {
    this.sql.exec("DELETE FROM commands WHERE until <= ?", now);
    this.sql.exec("DELETE FROM reached WHERE until <= ?", now);
  }

  private insert({ id, at, until, kind }: Row, overlayId: string | null, body: unknown): void {
    const insert = "INSERT OR IGNORE INTO commands (id, at, until, kind, overlay_id, body) VALUES (?, ?, ?, ?, ?, ?)";
    this.sql.exec(insert, id, at, until, kind, overlayId, JSON.stringify(body));
  }
}
