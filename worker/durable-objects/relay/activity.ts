import type { Seen } from "#worker/services/realtime/activity.ts";

/** A player tells where it is more often than this; longer silence, ms, is no proof of watching. */
const LONGEST_STEP_MS = 60_000;

/** A row goes on for so long, ms: of a longer one nobody could tell which part was watched. */
const QUARTER = 900_000;
const MINUTE = 60_000;

/** Where in a video a viewer was (seconds of media time), and when that was heard (ms). */
export interface Place {
  videoId: string;
  mediaTime: number;
  at: number;
}

/** The same with since when it is watched without a break, ms; each quarter of an hour begins anew. */
export interface Watching extends Place {
  since: number;
}

/** The place that a viewer tells of, after the one that it told of before. */
export function watchingAt(before: Watching | null, place: Place): Watching {
  if (!before || watchedBetween(before, place) === 0) return { ...place, since: place.at };
  const goesOn = Math.floor(before.since / QUARTER) === Math.floor(before.at / QUARTER);
  return { ...place, since: goesOn ? before.since : before.at };
}

/** Seconds watched between two reports: no more than have passed, and none unless the picture has moved on. */
export function watchedBetween(before: Place | null, after: Place): number {
  if (before?.videoId !== after.videoId) return 0;
  const passed = after.at - before.at;
  if (passed > LONGEST_STEP_MS) return 0;
  return Math.max(0, Math.min(passed / 1000, after.mediaTime - before.mediaTime));
}

/** What the accounts at this relay have done and is not in the database yet: one row for each account and thing, until there is a break. */
export class RelayActivity {
  private readonly channelId: string;
  private rows = new Map<string, Seen>();

  constructor(channelId: string) {
    this.channelId = channelId;
  }

  get size(): number {
    return this.rows.size;
  }

  /** Notes that an account is here, and has been since it came (ms). */
  visited(accountId: string, since: number, now: number): void {
    this.add(accountId, "channel", this.channelId, { seconds: (now - since) / 1000, since, from: since, to: now });
  }

  opened(accountId: string, panelId: string, now: number): void {
    this.add(accountId, "panel", panelId, { seconds: 0, since: now, from: now, to: now });
  }

  /** Adds what lies between two reports of a player. */
  watched(accountId: string, before: Watching | null, after: Watching): void {
    const seconds = watchedBetween(before, after);
    if (before && seconds > 0) this.add(accountId, "watch", after.videoId, { seconds, since: after.since, from: before.at, to: after.at });
  }

  take(): Seen[] {
    const rows = [...this.rows.values()];
    this.rows = new Map();
    return rows;
  }

  /** What could not be written goes with the next: the database never counts more than has passed. */
  putBack(rows: Seen[]): void {
    for (const { accountId, kind, targetId, seconds, since, firstAt, lastAt } of rows) {
      this.add(accountId, kind, targetId, { seconds, since, from: firstAt, to: lastAt });
    }
  }

  private add(accountId: string, kind: Seen["kind"], targetId: string, { seconds, since, from, to }: Span): void {
    const key = `${accountId} ${kind} ${targetId} ${Math.floor(since / MINUTE)}`;
    const known = this.rows.get(key);
    const firstAt = Math.min(from, known?.firstAt ?? from);
    const lastAt = Math.max(to, known?.lastAt ?? to);
    // Two screens of one account watch no faster than the clock.
    const sum = Math.min((known?.seconds ?? 0) + seconds, (lastAt - firstAt) / 1000);
    this.rows.set(key, { accountId, kind, targetId, channelId: this.channelId, seconds: sum, since, firstAt, lastAt });
  }
}

interface Span {
  seconds: number;
  since: number;
  from: number;
  to: number;
}
