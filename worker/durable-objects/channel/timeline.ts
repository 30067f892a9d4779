import { pageOf } from "#worker/durable-objects/call-size.ts";
import type { TimelineEntry } from "./channel.protocol.ts";

/** How far back the log is read, in frames, and how much text the result may have, in characters. */
const MAX_FRAMES = 1_000;
const MAX_CHARS = 1_000_000;

/** The broadcasts to everybody that were on at `since` (ms) or later, the latest first, as far as the log reaches back. */
export function timelineOf(sql: SqlStorage, head: number, since: number): TimelineEntry[] {
  const recent = sql.exec<{ seq: number; body: string }>(
    `SELECT seq, body FROM frames WHERE seq > ? AND shows IS NOT NULL AND tags IS NULL AND until > ?
        UNION SELECT seq, body FROM broadcasts WHERE tags IS NULL AND ends_at > ?
        ORDER BY seq DESC`,
    head - MAX_FRAMES,
    since,
    since,
  );
  const cleared = new Map(
    sql
      .exec<{ id: string; at: number }>(
        `SELECT clear.value AS id, frames.at AS at FROM frames, json_each(frames.clears) AS clear
          WHERE seq > ? AND clears IS NOT NULL ORDER BY seq DESC`,
        head - MAX_FRAMES,
      )
      .toArray()
      .map(({ id, at }) => [id, at]),
  );
  return pageOf(recent, MAX_CHARS).page.map(({ body }) => ({ body, clearedAt: cleared.get(idIn(body)) ?? null }));
}

/** The broadcast's id, without parsing the rest. */
function idIn(body: string): string {
  return /"broadcastId":"([0-9a-f]+)"/.exec(body)?.[1] ?? "";
}
