import type { PlayerAdapter } from "../model/player.ts";
import type { Environment, Timer } from "./environment.ts";
import type { OverlayShow, ServerFrame, ServerFrameOf } from "./protocol.ts";
import { report, safely } from "./report.ts";

const LOOK_MS = 200;

/** Holds broadcasts with a timecode until the picture is there. */
export interface MediaTimeSync {
  /** Passes a frame on, at once or when the picture is there. */
  take(frame: ServerFrame): void;
  /** Null: no player, so nothing is held. */
  setPlayer(player: PlayerAdapter | null): void;
  /** The player's, in seconds. Null: there is no player, or it has no time or fails. */
  mediaTime(): number | null;
  stop(): void;
}

/**
 * Passes frames on in their order, except broadcasts with a `timecode`: each waits until the player's media time reaches it, so that
 * nobody reads of a goal before seeing it. A player without a time holds them all; without a player nothing waits.
 *
 * A broadcast that has waited keeps its whole duration: it is passed on with `startsAt` and `endsAt` moved to its release, and an
 * `overlay.clear` of our own ends it (with the broadcast's `seq` and `upTo`). The server's clear at the original end (`ended`) is kept
 * back from it; a clear that somebody asked for always counts. So whoever reads the frames needs no rule for this.
 */
export function syncToMediaTime(environment: Environment, onFrame: (frame: ServerFrame) => void): MediaTimeSync {
  let player: PlayerAdapter | null = null;
  let broken = false;
  let endChange: (() => void) | undefined;
  let timer: Timer | undefined;
  const waiting = new Map<string, OverlayShow>();
  /** What was shown late and is still on, with the times at which it is. */
  const late = new Map<string, OverlayShow>();

  function take(frame: ServerFrame): void {
    if (frame.type === "overlay.show" && mustWait(frame)) waiting.set(frame.broadcastId, frame);
    else if (frame.type === "welcome") pass(frame.recovered ? frame : startOver(frame));
    else if (frame.type === "overlay.clear") clear(frame);
    else pass(frame);
    watch();
  }

  function pass(frame: ServerFrame): void {
    safely(() => onFrame(frame));
  }

  /** The whole state: what is not in it was cleared meanwhile, and what has ended is in it for those whose picture isn't there yet. */
  function startOver(welcome: ServerFrameOf<"welcome">): ServerFrame {
    const now = welcome.now ?? environment.now();
    const shownLate = new Map(late);
    waiting.clear();
    late.clear();
    const overlays = welcome.overlays.flatMap((overlay) => {
      const moved = shownLate.get(overlay.broadcastId);
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

  /** A player that fails has no time; the page is told once. */
  function mediaTime(): number | null {
    try {
      return player?.mediaTime() ?? null;
    } catch (error) {
      if (!broken) report(error);
      broken = true;
      return null;
    }
  }

  /** Ends what was shown late, and shows what is due, in the order of the picture. */
  function look(): void {
    const now = environment.now();
    const time = mediaTime();
    const over = [...late.values()].filter(({ endsAt }) => endsAt <= now);
    const due = [...waiting.values()]
      .filter((frame) => !mustWait(frame, time))
      .sort((one, other) => (one.timecode ?? 0) - (other.timecode ?? 0))
      .map((frame) => ({ ...frame, startsAt: now, endsAt: now + frame.endsAt - frame.startsAt }));
    for (const { broadcastId } of over) late.delete(broadcastId);
    for (const frame of due) {
      waiting.delete(frame.broadcastId);
      late.set(frame.broadcastId, frame);
    }
    watch();
    for (const { seq, upTo, broadcastId } of over) pass({ type: "overlay.clear", seq, upTo, broadcastIds: [broadcastId], ended: true });
    for (const frame of due) pass(frame);
  }

  /** Looks at the player and the clock only while something waits or is on late. */
  function watch(): void {
    if (timer !== undefined || waiting.size + late.size === 0) return;
    timer = environment.setTimer(() => {
      timer = undefined;
      look();
    }, LOOK_MS);
  }

  return {
    take,
    setPlayer(next) {
      safely(() => endChange?.());
      player = next;
      broken = false;
      endChange = safely(() => next?.onChange?.(look));
      look();
    },
    mediaTime,
    stop() {
      safely(() => endChange?.());
      environment.clearTimer(timer);
      waiting.clear();
      late.clear();
      timer = undefined;
    },
  };
}
