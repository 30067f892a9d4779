import type { PlayerAdapter } from "../model/player.ts";
import type { Environment, Timer } from "./environment.ts";
import type { OverlayShow, ServerFrame } from "./protocol.ts";

const LOOK_MS = 200;

/** Holds broadcasts with a timecode until the picture is there. */
export interface PictureTime {
  /** Passes a frame on, at once or when the picture is there. */
  take(frame: ServerFrame): void;
  /** Null: no player, so nothing is held. */
  setPlayer(player: PlayerAdapter | null): void;
  stop(): void;
}

/**
 * Passes frames on in their order, except broadcasts with a `timecode`: each waits until the player's media time reaches it, so that
 * nobody reads of a goal before seeing it. A clear that comes first takes it out of the queue; a broadcast that has waited keeps its
 * whole duration. Without a player, or while it has no time, nothing waits.
 */
export function pictureTime(environment: Environment, onFrame: (frame: ServerFrame) => void): PictureTime {
  let player: PlayerAdapter | null = null;
  let endChange: (() => void) | undefined;
  let timer: Timer | undefined;
  const waiting = new Map<string, OverlayShow>();

  function take(frame: ServerFrame): void {
    if (frame.type === "overlay.show" && mustWait(frame)) waiting.set(frame.broadcastId, frame);
    else if (frame.type === "welcome") onFrame({ ...frame, overlays: frame.overlays.filter((overlay) => !held(overlay)) });
    else if (frame.type === "overlay.clear") {
      for (const id of frame.broadcastIds) waiting.delete(id);
      onFrame(frame);
    } else onFrame(frame);
    watch();
  }

  function held(overlay: OverlayShow): boolean {
    const waits = mustWait(overlay);
    if (waits) waiting.set(overlay.broadcastId, overlay);
    return waits;
  }

  function mustWait({ timecode }: OverlayShow): boolean {
    const time = player?.mediaTime() ?? null;
    return timecode !== undefined && time !== null && time < timecode;
  }

  /** Shows what is due, in the order of the picture. */
  function release(): void {
    const due = [...waiting.values()].filter((frame) => !mustWait(frame)).sort((one, other) => (one.timecode ?? 0) - (other.timecode ?? 0));
    for (const frame of due) {
      waiting.delete(frame.broadcastId);
      const now = environment.now();
      onFrame({ ...frame, startsAt: now, endsAt: now + frame.endsAt - frame.startsAt });
    }
    watch();
  }

  /** Looks at the player only while something waits. */
  function watch(): void {
    environment.clearTimer(timer);
    timer = waiting.size > 0 ? environment.setTimer(release, LOOK_MS) : undefined;
  }

  return {
    take,
    setPlayer(next) {
      endChange?.();
      player = next;
      endChange = next?.onChange?.(release);
      release();
    },
    stop() {
      endChange?.();
      environment.clearTimer(timer);
      waiting.clear();
    },
  };
}
