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
 * before the video shows it. Adapters: `videoElement(video)`, `hlsProgramDateTime(hls, video)`, or any object of this shape.
 */
export interface PlayerAdapter {
  /** Media time in seconds, on the clock that timecodes refer to; null while there is none. */
  mediaTime(): number | null;
  /** Whether the video is playing. */
  playing(): boolean;
  play?(): void | Promise<void>;
  pause?(): void;
  /** Seconds of media time. */
  seek?(seconds: number): void;
  /** Calls the listener when playback starts, stops or seeks, and returns a function that removes it. */
  onChange?(listener: () => void): () => void;
}
