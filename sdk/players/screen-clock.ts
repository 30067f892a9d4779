/** Milliseconds without a new picture after which a playing video counts as not being painted, such as one that isn't displayed. */
const UNPAINTED_MS = 3_000;
/** The browser announces a picture shortly before `currentTime` reaches it. By more than this, in seconds, it is the one from before a seek. */
const AHEAD_SECONDS = 0.1;

/** Knows which picture of a video is on the screen. */
export interface ScreenClock {
  /** The picture's time in the video, in seconds; null before the first picture. */
  time(): number | null;
  /** Starts following the pictures, calls the listener with each, and returns a function that ends it. */
  follow(listener: (time: number) => void): () => void;
}

/**
 * `currentTime` runs ahead of the screen while the player seeks or the decoder is late, and an overlay that relied on it would come before
 * its picture. While somebody follows, the time is therefore that of the last picture that the browser has painted.
 */
export function screenClock(video: HTMLVideoElement): ScreenClock {
  const reportsFrames = typeof video.requestVideoFrameCallback === "function";
  const listeners = new Set<(time: number) => void>();
  let request: number | undefined;
  /** The last picture; null if there was none since the clock began to follow, or since the video was replaced. */
  let painted: number | null = null;
  let paintedAt = 0;

  function painting(_now: number, { mediaTime }: VideoFrameCallbackMetadata): void {
    painted = mediaTime;
    paintedAt = performance.now();
    request = video.requestVideoFrameCallback(painting);
    for (const listener of listeners) listener(mediaTime);
  }

  function replaced(): void {
    painted = null;
    paintedAt = performance.now();
  }

  /** A video that stands still reports its picture only when it changes. */
  function startOver(): void {
    replaced();
    if (video.paused && !video.seeking && video.readyState >= 2) painted = video.currentTime;
  }

  function start(): void {
    startOver();
    request = video.requestVideoFrameCallback(painting);
    video.addEventListener("emptied", replaced);
    // What was painted before the page was hidden is no longer on the screen.
    document.addEventListener("visibilitychange", startOver);
  }

  function stop(): void {
    if (request !== undefined) video.cancelVideoFrameCallback(request);
    request = undefined;
    video.removeEventListener("emptied", replaced);
    document.removeEventListener("visibilitychange", startOver);
  }

  return {
    time() {
      if (video.readyState === 0) return null;
      const { currentTime } = video;
      // Nobody sees a hidden page, and it paints nothing.
      if (request === undefined || document.visibilityState === "hidden") return video.seeking ? null : currentTime;
      const unpainted = !video.seeking && !video.paused && performance.now() - paintedAt > UNPAINTED_MS;
      if (unpainted) return currentTime;
      return painted !== null && painted > currentTime + AHEAD_SECONDS ? currentTime : painted;
    },
    follow(listener) {
      if (!reportsFrames) return () => {};
      if (listeners.size === 0) start();
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stop();
      };
    },
  };
}
