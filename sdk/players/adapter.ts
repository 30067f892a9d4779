import type { VideoPlayer } from "../model/player.ts";
import { screenClock } from "./screen-clock.ts";

/** Options of every adapter. */
export interface PlayerOptions {
  /**
   * The moment that timecodes count from, on the stream's own clock (ms since 1970 UTC): set it for live streams, so that all viewers have
   * the same media time; 0 for timecodes in seconds since 1970. Without it, media time is the position in the video.
   */
  programmeStart?: number;
}

/** What differs between players. Times are seconds of the `<video>` element. */
export interface Source {
  video: HTMLVideoElement;
  /** The stream's own clock at a time of the video, in ms since 1970 UTC; null if the stream has none there. */
  programDateTime(time: number): number | null;
  /** Where the player plays a live stream; null for a recording. */
  liveTime(): number | null;
}

/** How far behind its usual place a player may be and still count as live, in seconds. */
const LIVE_TOLERANCE = 5;
/** A jump of the stream's clock by more than this, in ms, is a discontinuity. */
const JUMP_MS = 250;
const EVENTS = ["play", "playing", "pause", "seeking", "seeked", "ended", "emptied", "ratechange", "loadeddata"];

/** Connects a player, without the cues in its stream. */
export function createAdapter(
  source: Source,
  { programmeStart }: PlayerOptions = {},
  screen = screenClock(source.video),
): Omit<VideoPlayer, "onCue"> {
  const { video } = source;

  /** The media time at a time of the video. */
  function mediaTimeAt(time: number): number | null {
    if (programmeStart === undefined) return time;
    const date = source.programDateTime(time);
    return date === null ? null : (date - programmeStart) / 1000;
  }

  function atScreen(convert: (time: number) => number | null): number | null {
    const time = screen.time();
    return time === null ? null : convert(time);
  }

  return {
    mediaTime: () => atScreen(mediaTimeAt),
    programDateTime: () => atScreen((time) => source.programDateTime(time)),
    playing: () => !video.paused && !video.ended,
    paused: () => video.paused,
    seeking: () => video.seeking,
    atLiveEdge() {
      const live = source.liveTime();
      return live !== null && video.currentTime >= live - LIVE_TOLERANCE;
    },
    rate: () => video.playbackRate,
    play: () => video.play(),
    pause: () => video.pause(),
    seek(seconds) {
      const now = mediaTimeAt(video.currentTime);
      if (now !== null) video.currentTime += seconds - now;
    },
    onChange(listener) {
      let offset: number | null = null;
      const stopFollowing = screen.follow((time) => {
        const date = source.programDateTime(time);
        const next = date === null ? null : date - time * 1000;
        const jumped = offset !== null && next !== null && Math.abs(next - offset) > JUMP_MS;
        const first = offset === null;
        offset = next;
        if (jumped || first) listener();
      });
      for (const event of EVENTS) video.addEventListener(event, listener);
      return () => {
        stopFollowing();
        for (const event of EVENTS) video.removeEventListener(event, listener);
      };
    },
  };
}

export function isVideo(media: HTMLMediaElement | null): media is HTMLVideoElement {
  return media?.tagName === "VIDEO";
}

/** The end of what can be played, in seconds; null if nothing can. */
export function seekableEnd({ seekable }: HTMLVideoElement): number | null {
  return seekable.length === 0 ? null : seekable.end(seekable.length - 1);
}

/** The clock of a list of segments: that of the one which contains `time`. */
export function segmentClock(segments: readonly { start: number; end: number; date: number | null }[], time: number): number | null {
  // At the seam, a picture belongs to the later segment; its time may be a rounding error too early.
  const segment = segments.reduce<(typeof segments)[number] | undefined>(
    (found, one) => (one.start <= time + 0.002 && one.date !== null ? one : found),
    undefined,
  );
  return segment?.date === undefined || segment.date === null ? null : segment.date + (time - segment.start) * 1000;
}
