import { type CuePosition, createCues, type Cues, type StreamCue } from "../cues/cues.ts";
import { safely } from "../channel/report.ts";
import type { VideoPlayer } from "../model/player.ts";
import { createAdapter, type PlayerOptions, type Source } from "./adapter.ts";
import { screenClock } from "./screen-clock.ts";

/** Where a player's cues are found. */
export interface CueSource {
  /** Passes on each cue that the player reports from now on. */
  follow?: (cues: Cues) => void;
  /** Passes on those that the player has now. Called several times a second while somebody listens. */
  read?: (cues: Cues) => void;
}

/** Connects a player with the cues in its stream. */
export function createPlayer(source: Source, cues: CueSource, options?: PlayerOptions): VideoPlayer {
  const screen = screenClock(source.video);
  const player = createAdapter(source, options, screen);
  const position = () => {
    const date = player.programDateTime();
    return { time: screen.time(), date: date === null ? null : new Date(date) };
  };
  return { ...player, onCue: subscribeTo(source.video, cues, position) };
}

/** Subscribes to the cues of a player's stream. Those that were found before anybody listened aren't lost. */
function subscribeTo(
  video: HTMLVideoElement,
  { follow, read }: CueSource,
  position: () => CuePosition,
): (listener: (cue: StreamCue) => void) => () => void {
  const listeners = new Set<(cue: StreamCue) => void>();
  const cues = createCues({
    position: () => (listeners.size === 0 ? { time: null, date: null } : position()),
    onCue(cue) {
      for (const listener of listeners) safely(() => listener(cue));
    },
  });
  follow?.(cues);
  video.addEventListener("emptied", () => cues.clear());

  function update(): void {
    safely(() => read?.(cues));
    cues.update();
  }

  return (listener) => {
    if (listeners.size === 0) for (const event of ["timeupdate", "seeked"]) video.addEventListener(event, update);
    listeners.add(listener);
    update();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) for (const event of ["timeupdate", "seeked"]) video.removeEventListener(event, update);
    };
  };
}
