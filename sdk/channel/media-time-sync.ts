import type { PlayerAdapter } from "../model/player.ts";
import type { Environment, Timer } from "./environment.ts";
import type { OverlayShow, ServerFrame, ServerFrameOf } from "./protocol.ts";
import { report, safely } from "./report.ts";

/** How often the player is asked for its time at least, in ms, and at most. */
const POLL_MS = 200;
const MIN_POLL_MS = 10;
/**
 * Clocks of streams are rounded to milliseconds, which must not cost a picture. No more than that error: a whole millisecond would show
 * an overlay whose timecode is a millisecond after a picture together with that picture.
 */
const ROUNDING_SECONDS = 0.0005;
/** How far back the time must go to be a step of the viewer's, in seconds: a player's clock may correct itself by a picture. */
const BACK_SECONDS = 0.05;
/** A release this late, in seconds of media time, was a jump of the player: the broadcast has lost that much of its time. */
const JUMP_SECONDS = 1;
/** Broadcasts that are kept for viewers who go back. */
const MAX_PASSED = 2_000;

/** Holds broadcasts with a timecode until the video reaches it. */
export interface MediaTimeSync {
  /** Accepts a frame and passes it on, immediately or when the video reaches its timecode. */
  accept(frame: ServerFrame): void;
  /** Adds the broadcasts of a recording, each of which is passed on when the video reaches its timecode. */
  replay(broadcasts: readonly OverlayShow[]): void;
  /** Null if there is no player; nothing is held then. */
  setPlayer(player: PlayerAdapter | null): void;
  /** The player's media time in seconds. Null if there is no player, it has no time, or it throws. */
  mediaTime(): number | null;
  /** Whether the video ends this broadcast, which is on: it stays while the video pauses, and a clear follows. */
  endsWithVideo(broadcastId: string): boolean;
  /** The time by which the contents of a broadcast run, in ms: that of the video, for one that was held for it. */
  timeOf(broadcastId: string): number | null;
  stop(): void;
}

/** A broadcast that the video has reached. */
interface Late {
  /** With its new times; one of a recording keeps its own. */
  frame: OverlayShow;
  /** The media time at which it is over; undefined without a player. */
  until: number | undefined;
}

/**
 * Passes frames on in order, except broadcasts with a `timecode`: each waits until the player's media time reaches it, so that no overlay
 * reveals a goal before the video shows it. While the player has no media time, all of them wait; without a player, none does.
 *
 * A broadcast that has waited keeps its full duration, in media time: `startsAt` and `endsAt` are moved to its release, and a generated
 * `overlay.clear` ends it (with the broadcast's `seq` and `upTo`). The server's clear at the original end (`ended`) is dropped for it; a
 * requested clear always applies. Listeners therefore need no logic of their own.
 *
 * When the viewer goes back, broadcasts from there on are cleared and wait again. When the viewer goes forward, those whose time the
 * video has skipped aren't shown.
 */
export function syncToMediaTime(environment: Environment, onFrame: (frame: ServerFrame) => void): MediaTimeSync {
  let player: PlayerAdapter | null = null;
  let errorReported = false;
  let removeChangeListener: (() => void) | undefined;
  let timer: Timer | undefined;
  let timerAt = Infinity;
  /** The player's time when it was last asked. */
  let lastTime: number | null = null;
  const waiting = new Map<string, OverlayShow>();
  /** Broadcasts that were released late and are still active, with their new times. */
  const late = new Map<string, Late>();
  /** Broadcasts with a timecode that were passed on or skipped, as they came. */
  const passed = new Map<string, OverlayShow>();
  /** Ids of broadcasts of a recording, which the server's state says nothing about. */
  const recorded = new Set<string>();

  function accept(frame: ServerFrame): void {
    if (frame.type === "overlay.show") show(frame);
    else if (frame.type === "welcome") pass(frame.recovered ? frame : restore(frame));
    else if (frame.type === "overlay.clear") clear(frame);
    else pass(frame);
    schedule();
  }

  function pass(frame: ServerFrame): void {
    safely(() => onFrame(frame));
  }

  function show(frame: OverlayShow): void {
    passed.delete(frame.broadcastId);
    if (mustWait(frame)) waiting.set(frame.broadcastId, frame);
    else {
      remember(frame);
      pass(frame);
    }
  }

  /** Keeps a broadcast in case the viewer goes back. */
  function remember(frame: OverlayShow): void {
    if (player === null || frame.timecode === undefined) return;
    passed.set(frame.broadcastId, frame);
    const [oldest] = passed.keys();
    if (passed.size > MAX_PASSED && oldest !== undefined) passed.delete(oldest);
  }

  /** A welcome contains the full state: missing broadcasts were cleared; ended ones are included for viewers whose video lags behind. */
  function restore(welcome: ServerFrameOf<"welcome">): ServerFrame {
    const now = welcome.now ?? environment.now();
    const releasedLate = new Map(late);
    const listed = new Set([...recorded, ...welcome.overlays.map(({ broadcastId }) => broadcastId)]);
    for (const broadcasts of [waiting, late]) for (const id of broadcasts.keys()) if (!recorded.has(id)) broadcasts.delete(id);
    for (const { broadcastId, endsAt } of passed.values()) if (endsAt > now && !listed.has(broadcastId)) passed.delete(broadcastId);
    const overlays = welcome.overlays.flatMap((overlay) => {
      const moved = releasedLate.get(overlay.broadcastId);
      if (moved) late.set(overlay.broadcastId, moved);
      else if (mustWait(overlay)) waiting.set(overlay.broadcastId, overlay);
      else {
        remember(overlay);
        if (overlay.endsAt > now) return overlay;
      }
      return moved?.frame ?? [];
    });
    for (const id of waiting.keys()) passed.delete(id);
    const replayed = [...late.values()].map(({ frame }) => frame).filter(({ broadcastId }) => recorded.has(broadcastId));
    return { ...welcome, overlays: [...overlays, ...replayed] };
  }

  function clear(frame: ServerFrameOf<"overlay.clear">): void {
    const rest = frame.broadcastIds.filter((id) => frame.ended !== true || !(waiting.has(id) || late.has(id)));
    for (const id of rest) {
      waiting.delete(id);
      late.delete(id);
      if (frame.ended !== true) passed.delete(id);
    }
    if (rest.length > 0) pass({ ...frame, broadcastIds: rest });
  }

  function mustWait({ timecode }: OverlayShow, time = mediaTime()): boolean {
    return player !== null && timecode !== undefined && (time === null || time + ROUNDING_SECONDS < timecode);
  }

  /** A player that throws has no time; the error is reported once. */
  function mediaTime(): number | null {
    try {
      return player?.mediaTime() ?? null;
    } catch (error) {
      if (!errorReported) report(error);
      errorReported = true;
      return null;
    }
  }

  /** Ends late broadcasts whose time is over, and releases those that are due, in order of their timecodes. */
  function update(): void {
    const now = environment.now();
    const time = mediaTime();
    const back = time !== null && lastTime !== null && time < lastTime - BACK_SECONDS ? goBack(time) : [];
    if (time !== null) lastTime = time;
    const ended = [...late.values()].filter((one) => isOver(one, now, time)).map(({ frame }) => frame);
    const due = [...waiting.values()]
      .filter((frame) => !mustWait(frame, time))
      .sort((one, other) => (one.timecode ?? 0) - (other.timecode ?? 0));
    for (const { broadcastId } of ended) late.delete(broadcastId);
    const released = due.flatMap((frame) => release(frame, now, time));
    schedule();
    for (const { seq, upTo, broadcastId } of back) pass({ type: "overlay.clear", seq, upTo, broadcastIds: [broadcastId] });
    for (const { seq, upTo, broadcastId } of ended) pass({ type: "overlay.clear", seq, upTo, broadcastIds: [broadcastId], ended: true });
    for (const frame of released) pass(frame);
  }

  /** By the video while it has a time, else by the clock, which says nothing about a recording. */
  function isOver({ frame, until }: Late, now: number, time: number | null): boolean {
    if (until !== undefined && time !== null) return time + ROUNDING_SECONDS >= until;
    return until !== undefined && recorded.has(frame.broadcastId) ? player === null : frame.endsAt <= now;
  }

  /** Lets broadcasts wait again whose time isn't over at `time`. Returns those that haven't begun there. */
  function goBack(time: number): OverlayShow[] {
    const again = [...passed.values()].filter((frame) => endOf(frame) > time);
    const future = again.filter((frame) => mustWait(frame, time));
    for (const frame of again) {
      // One that is on and has begun at this time stays on.
      if (late.has(frame.broadcastId) && !future.includes(frame)) continue;
      passed.delete(frame.broadcastId);
      late.delete(frame.broadcastId);
      waiting.set(frame.broadcastId, frame);
    }
    return future;
  }

  /** The broadcast with its new times; nothing if the player has jumped over it. */
  function release(frame: OverlayShow, now: number, time: number | null): OverlayShow[] {
    waiting.delete(frame.broadcastId);
    remember(frame);
    const missed = time === null ? 0 : Math.max(0, time - (frame.timecode ?? time));
    const lost = missed > JUMP_SECONDS ? missed * 1_000 : 0;
    const left = frame.endsAt - frame.startsAt - lost;
    if (left <= 0) return [];
    const moved = recorded.has(frame.broadcastId) && time !== null ? frame : { ...frame, startsAt: now, endsAt: now + left };
    late.set(frame.broadcastId, { frame: moved, until: time === null ? undefined : time + left / 1_000 });
    return [moved];
  }

  /** Asks the player again when the next broadcast is due, and regularly while any could become due or end. */
  function schedule(): void {
    const active = [...passed.values()].some(({ endsAt }) => endsAt > environment.now());
    if (waiting.size + late.size === 0 && !active) return;
    const delay = delayUntilDue();
    const at = environment.now() + delay;
    if (timer !== undefined && timerAt <= at) return;
    environment.clearTimer(timer);
    timerAt = at;
    timer = environment.setTimer(() => {
      timer = undefined;
      update();
    }, delay);
  }

  function delayUntilDue(): number {
    const time = waiting.size > 0 ? mediaTime() : null;
    if (time === null) return POLL_MS;
    const rate = Math.max(0.1, safely(() => player?.rate?.()) ?? 1);
    const next = [...waiting.values()].reduce((soonest, { timecode = time }) => Math.min(soonest, timecode), Infinity);
    return Math.min(POLL_MS, Math.max(MIN_POLL_MS, ((next - time) / rate) * 1_000));
  }

  return {
    accept,
    replay(broadcasts) {
      for (const frame of broadcasts) {
        if (frame.timecode === undefined) continue;
        passed.delete(frame.broadcastId);
        recorded.add(frame.broadcastId);
        waiting.set(frame.broadcastId, frame);
      }
      update();
    },
    setPlayer(next) {
      safely(() => removeChangeListener?.());
      player = next;
      lastTime = null;
      errorReported = false;
      removeChangeListener = safely(() => next?.onChange?.(update));
      update();
    },
    mediaTime,
    endsWithVideo: (broadcastId) => late.has(broadcastId),
    timeOf(broadcastId) {
      const frame = late.get(broadcastId)?.frame ?? (recorded.has(broadcastId) ? passed.get(broadcastId) : undefined);
      const time = mediaTime() ?? lastTime;
      return frame?.timecode === undefined || time === null ? null : frame.startsAt + (time - frame.timecode) * 1_000;
    },
    stop() {
      safely(() => removeChangeListener?.());
      environment.clearTimer(timer);
      waiting.clear();
      late.clear();
      passed.clear();
      recorded.clear();
      timer = undefined;
    },
  };
}

/** Media time at which a broadcast with a timecode is over. */
function endOf({ timecode = 0, startsAt, endsAt }: OverlayShow): number {
  return timecode + (endsAt - startsAt) / 1_000;
}
