import { QUARTER, type Seen } from "../services/activity.ts";

/** A player tells where it is more often than this; longer silence, ms, is no proof of watching. */
const LONGEST_STEP_MS = 60_000;

/** Where in a video a viewer was (seconds of media time), and when that was heard (ms). */
export interface Watching {
  videoId: string;
  mediaTime: number;
  at: number;
}

/** Seconds watched between two reports: no more than have passed, and none unless the picture has moved on. */
export function watchedBetween(before: Watching | null, after: Watching): number {
  if (before?.videoId !== after.videoId) return 0;
  const passed = after.at - before.at;
  if (passed > LONGEST_STEP_MS) return 0;
  return Math.max(0, Math.min(passed / 1000, after.mediaTime - before.mediaTime));
}

/** What the accounts at this relay have done and is not in the database yet: one row for each account, thing and quarter of an hour. */
export class RelayActivity {
  private readonly channelId: string;
  private rows = new Map<string, Seen>();

  constructor(channelId: string) {
    this.channelId = channelId;
  }

  get size(): number {
    return this.rows.size;
  }

  visited(accountId: string, now: number): void {
    this.add(accountId, "channel", this.channelId, { seconds: 0, from: now, to: now });
  }

  opened(accountId: string, panelId: string, now: number): void {
    this.add(accountId, "panel", panelId, { seconds: 0, from: now, to: now });
  }

  /** Adds what lies between two reports of a player. */
  watched(accountId: string, before: Watching | null, after: Watching): void {
    const seconds = watchedBetween(before, after);
    if (before && seconds > 0) this.add(accountId, "watch", after.videoId, { seconds, from: before.at, to: after.at });
  }

  take(): Seen[] {
    const rows = [...this.rows.values()];
    this.rows = new Map();
    return rows;
  }

  /** What could not be written goes with the next: the database never counts more than has passed. */
  putBack(rows: Seen[]): void {
    for (const { accountId, kind, targetId, seconds, firstAt, lastAt } of rows) {
      this.add(accountId, kind, targetId, { seconds, from: firstAt, to: lastAt });
    }
  }

  private add(accountId: string, kind: Seen["kind"], targetId: string, { seconds, from, to }: Span): void {
    const key = `${accountId} ${kind} ${targetId} ${Math.floor(to / QUARTER)}`;
    const known = this.rows.get(key);
    const firstAt = Math.min(from, known?.firstAt ?? from);
    const lastAt = Math.max(to, known?.lastAt ?? to);
    // Two screens of one account watch no faster than the clock.
    const sum = Math.min((known?.seconds ?? 0) + seconds, (lastAt - firstAt) / 1000);
    this.rows.set(key, { accountId, kind, targetId, channelId: this.channelId, seconds: sum, firstAt, lastAt });
  }
}

interface Span {
  seconds: number;
  from: number;
  to: number;
}
