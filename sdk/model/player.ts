import type { StreamCue } from "../cues/cues.ts";

/** A clip for the host app's player: a video of the site, or a part of the event. */
export interface Clip {
  /** The video's id. */
  videoId: string;
  title: string;
  url: string;
  /** Seconds of media time at which it starts and ends. Absent: from the beginning, to the end. */
  start?: number;
  end?: number;
}

/**
 * Connects Tifo to a video player. A broadcast with a `timecode` is held until `mediaTime()` reaches it, so that no overlay reveals a goal
 * before the video shows it. Adapters for hls.js, Shaka Player, video.js, dash.js and `<video>` are in `@tifo/web/players`; or pass any
 * object of this shape.
 */
export interface PlayerAdapter {
  /** Media time in seconds of the picture on screen, on the clock that timecodes refer to; null while there is none. */
  mediaTime(): number | null;
  /** Whether the video is playing. */
  playing(): boolean;
  play?(): void | Promise<void>;
  pause?(): void;
  /** Seconds of media time. */
  seek?(seconds: number): void;
  /** Seconds of media time per second while it plays; 1 if absent. */
  rate?(): number;
  /** Calls the listener when playback starts, stops, seeks or passes a discontinuity, and returns a function that removes it. */
  onChange?(listener: () => void): () => void;
}

/** What the adapters of `@tifo/web/players` also report. */
export interface VideoPlayer extends PlayerAdapter {
  /** The stream's own clock for the picture on screen (EXT-X-PROGRAM-DATE-TIME, or the clock of a live DASH stream), in ms since 1970 UTC. */
  programDateTime(): number | null;
  /** Whether the picture on screen isn't yet the one that the player was sent to. */
  seeking(): boolean;
  paused(): boolean;
  /** Whether a live stream plays as close to the present as the player plays it. False for a recording. */
  atLiveEdge(): boolean;
  /**
   * Calls the listener with each cue in the stream (date range, ID3 tag, SCTE 35 message) when the video reaches it, and returns a function
   * that removes the listener. A cue is passed on again after the viewer has gone back to before it.
   */
  onCue(listener: (cue: StreamCue) => void): () => void;
}
