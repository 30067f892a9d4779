/** A clip that the host app's player is asked to show: a video of the site, or a part of the event. */
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
 * How Tifo sees the picture. A broadcast with a `timecode` is held until `mediaTime()` reaches it, so that nobody reads of a goal before
 * seeing it. Adapters: `videoElement(video)`, `hlsProgramDateTime(hls, video)`, or any object of this shape.
 */
export interface PlayerAdapter {
  /** Seconds of media time on the clock that broadcasts name: null while nothing plays. */
  mediaTime(): number | null;
  /** Whether the picture moves. */
  playing(): boolean;
  play?(): void | Promise<void>;
  pause?(): void;
  /** Seconds of media time. */
  seek?(seconds: number): void;
  /** Calls back whenever time jumps, or playing starts or stops; returns the function that ends this. */
  onChange?(listener: () => void): () => void;
}
