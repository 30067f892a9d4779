import type { PlayerAdapter } from "../model/player.ts";
import type { Environment, Timer } from "./environment.ts";
import type { OverlayShow, ServerFrame, ServerFrameOf } from "./protocol.ts";
import { report, safely } from "./report.ts";

const POLL_MS = 200;

/** Holds broadcasts with a timecode until the video reaches it. */
export interface MediaTimeSync {
  /** Accepts a frame and passes it on, immediately or when the video reaches its timecode. */
  accept(frame: ServerFrame): void;
  /** Null if there is no player; nothing is held then. */
  setPlayer(player: PlayerAdapter | null): void;
  /** The player's media time in seconds. Null if there is no player, it has no time, or it throws. */
  mediaTime(): number | null;
  stop(): void;
}

/**
 * Passes frames on in order, except broadcasts with a `timecode`: each waits until the player's media time reaches it, so that no overlay
 * reveals a goal before the video shows it. While the player has no media time, all of them wait; without a player, none does.
 *
 * A broadcast that has waited keeps its full duration: `startsAt` and `endsAt` are moved to its release, and a generated `overlay.clear`
 * ends it (with the broadcast's `seq` and `upTo`). The server's clear at the original end (`ended`) is dropped for it; a requested clear
 * always applies. Listeners therefore need no logic of their own.
 */
export function syncToMediaTime(environment: Environment, onFrame: (frame: ServerFrame) => void): MediaTimeSync {
  let player: PlayerAdapter | null = null;
  let errorReported = false;
  let removeChangeListener: (() => void) | undefined;
  let timer: Timer | undefined;
  const waiting = new Map<string, OverlayShow>();
  /** Broadcasts that were released late and are still active, with their new times. */
  const late = new Map<string, OverlayShow>();

  function accept(frame: ServerFrame): void {
    if (frame.type === "overlay.show" && mustWait(frame)) waiting.set(frame.broadcastId, frame);
    else if (frame.type === "welcome") pass(frame.recovered ? frame : restore(frame));
    else if (frame.type === "overlay.clear") clear(frame);
    else pass(frame);
    schedule();
  }

  function pass(frame: ServerFrame): void {
    safely(() => onFrame(frame));
  }

  /** A welcome contains the full state: missing broadcasts were cleared; ended ones are included for viewers whose video lags behind. */
  function restore(welcome: ServerFrameOf<"welcome">): ServerFrame {
    const now = welcome.now ?? environment.now();
    const releasedLate = new Map(late);
    waiting.clear();
    late.clear();
    const overlays = welcome.overlays.flatMap((overlay) => {
      const moved = releasedLate.get(overlay.broadcastId);
      if (moved) late.set(overlay.broadcastId, moved);
      else if (mustWait(overlay)) waiting.set(overlay.broadcastId, overlay);
      else if (overlay.endsAt > now) return overlay;
      return moved ?? [];
    });
    return { ...welcome, overlays };
  }

  function clear(frame: ServerFrameOf<"overlay.clear">): void {
    const rest = frame.broadcastIds.filter((id) => frame.ended !== true || !(waiting.has(id) || late.has(id)));
    for (const id of rest) {
      waiting.delete(id);
      late.delete(id);
    }
    if (rest.length > 0) pass({ ...frame, broadcastIds: rest });
  }

  function mustWait({ timecode }: OverlayShow, time = mediaTime()): boolean {
    return player !== null && timecode !== undefined && (time === null || time < timecode);
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
    const ended = [...late.values()].filter(({ endsAt }) => endsAt <= now);
    const due = [...waiting.values()]
      .filter((frame) => !mustWait(frame, time))
      .sort((one, other) => (one.timecode ?? 0) - (other.timecode ?? 0))
      .map((frame) => ({ ...frame, startsAt: now, endsAt: now + frame.endsAt - frame.startsAt }));
    for (const { broadcastId } of ended) late.delete(broadcastId);
    for (const frame of due) {
      waiting.delete(frame.broadcastId);
      late.set(frame.broadcastId, frame);
    }
    schedule();
    for (const { seq, upTo, broadcastId } of ended) pass({ type: "overlay.clear", seq, upTo, broadcastIds: [broadcastId], ended: true });
    for (const frame of due) pass(frame);
  }

  /** Polls the player and the clock only while a broadcast waits or was released late. */
  function schedule(): void {
    if (timer !== undefined || waiting.size + late.size === 0) return;
    timer = environment.setTimer(() => {
      timer = undefined;
      update();
    }, POLL_MS);
  }

  return {
    accept,
    setPlayer(next) {
      safely(() => removeChangeListener?.());
      player = next;
      errorReported = false;
      removeChangeListener = safely(() => next?.onChange?.(update));
      update();
    },
    mediaTime,
    stop() {
      safely(() => removeChangeListener?.());
      environment.clearTimer(timer);
      waiting.clear();
      late.clear();
      timer = undefined;
    },
  };
}
