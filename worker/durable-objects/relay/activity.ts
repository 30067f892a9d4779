import type { Seen } from "#worker/services/realtime/activity.ts";

/** Players report their position more often than this (ms); longer gaps don't count as watched. */
const LONGEST_STEP_MS = 60_000;

/** How long a row may span, ms: a longer one couldn't show which part was watched. */
const QUARTER = 900_000;
const MINUTE = 60_000;

/** A viewer's playback position (seconds of media time), and when it was reported (ms). */
export interface PlaybackPosition {
  videoId: string;
  mediaTime: number;
  at: number;
}

/** The same with the start of uninterrupted watching, ms. */
export interface Watching extends PlaybackPosition {
  /** Restarts every quarter of an hour. */
  since: number;
  /** Doesn't restart. */
  streak: number;
}

/** A newly reported position, following the one reported before. */
export function watchingAt(before: Watching | null, position: PlaybackPosition): Watching {
  if (!before || watchedBetween(before, position) === 0) return { ...position, since: position.at, streak: position.at };
  const continues = Math.floor(before.since / QUARTER) === Math.floor(before.at / QUARTER);
  return { ...position, since: continues ? before.since : before.at, streak: before.streak };
}

/** Seconds watched between two reports: no more than the time elapsed, and none unless the playback position advanced. */
export function watchedBetween(before: PlaybackPosition | null, after: PlaybackPosition): number {
  if (before?.videoId !== after.videoId) return 0;
  const elapsed = after.at - before.at;
  if (elapsed > LONGEST_STEP_MS) return 0;
  return Math.max(0, Math.min(elapsed / 1000, after.mediaTime - before.mediaTime));
}

/** The whole minutes of a streak that ended between two reports, as minutes since 1970: the clock minutes in which they ended. */
export function minutesBetween(before: Watching, after: Watching): number[] {
  const from = Math.floor((before.at - after.streak) / MINUTE);
  const to = Math.floor((after.at - after.streak) / MINUTE);
  return Array.from({ length: to - from }, (_, index) => Math.floor((after.streak + (from + index + 1) * MINUTE) / MINUTE));
}

/** Viewer activity at this relay that isn't in the database yet: one row per account and target, until there is a break. */
export class RelayActivity {
  readonly #channelId: string;
  #rows = new Map<string, Seen>();

  constructor(channelId: string) {
    this.#channelId = channelId;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Records that an account is connected, and since when (ms). */
  visited(accountId: string, since: number, now: number): void {
    this.#add(accountId, "channel", this.#channelId, { seconds: (now - since) / 1000, since, from: since, to: now });
  }

  opened(accountId: string, panelId: string, now: number): void {
    this.#add(accountId, "panel", panelId, { seconds: 0, since: now, from: now, to: now });
  }

  /** Adds the time watched between two reports of a player. */
  watched(accountId: string, before: Watching | null, after: Watching): void {
    const seconds = watchedBetween(before, after);
    if (!before || seconds === 0) return;
    const minutes = minutesBetween(before, after);
    this.#add(accountId, "watch", after.videoId, { seconds, since: after.since, from: before.at, to: after.at, minutes });
  }

  take(): Seen[] {
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    return rows;
  }

  /** Keeps rows that could not be written for the next attempt: the database never counts more than the time elapsed. */
  putBack(rows: Seen[]): void {
    for (const { accountId, kind, targetId, seconds, since, firstAt, lastAt, minutes } of rows) {
      this.#add(accountId, kind, targetId, { seconds, since, from: firstAt, to: lastAt, minutes });
    }
  }

  #add(accountId: string, kind: Seen["kind"], targetId: string, { seconds, since, from, to, minutes = [] }: Span): void {
    const key = `${accountId} ${kind} ${targetId} ${Math.floor(since / MINUTE)}`;
    const known = this.#rows.get(key);
    const firstAt = Math.min(from, known?.firstAt ?? from);
    const lastAt = Math.max(to, known?.lastAt ?? to);
    // Two screens of one account watch no faster than the clock.
    const sum = Math.min((known?.seconds ?? 0) + seconds, (lastAt - firstAt) / 1000);
    const row: Seen = { accountId, kind, targetId, channelId: this.#channelId, seconds: sum, since, firstAt, lastAt };
    const watched = [...(known?.minutes ?? []), ...minutes];
    this.#rows.set(key, watched.length > 0 ? { ...row, minutes: watched } : row);
  }
}

interface Span {
  seconds: number;
  since: number;
  from: number;
  to: number;
  minutes?: number[] | undefined;
}
