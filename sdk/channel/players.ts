import type { PlayerAdapter } from "../model/player.ts";

/** A `<video>` element whose `currentTime` is the media time that timecodes refer to. */
export function videoElement(video: HTMLVideoElement): PlayerAdapter {
  return adapterOf(video, () => (video.readyState === 0 ? null : video.currentTime));
}

/** The part of hls.js that reports wall-clock time: `playingDate` comes from the stream's EXT-X-PROGRAM-DATE-TIME. */
export interface HlsLike {
  readonly playingDate: Date | null;
}

/**
 * A live stream in hls.js. Media time is the stream's program time in seconds since `start` (the start of the programme, ms since 1970 UTC);
 * without `start`, in seconds since 1970.
 */
export function hlsProgramDateTime(hls: HlsLike, video: HTMLVideoElement, start = 0): PlayerAdapter {
  return adapterOf(video, () => (hls.playingDate === null ? null : (hls.playingDate.getTime() - start) / 1000));
}

function adapterOf(video: HTMLVideoElement, mediaTime: () => number | null): PlayerAdapter {
  return {
    mediaTime,
    playing: () => !video.paused && !video.ended,
    play: () => video.play(),
    pause: () => video.pause(),
    seek(seconds) {
      const now = mediaTime();
      video.currentTime += now === null ? 0 : seconds - now;
    },
    onChange(listener) {
      const events = ["play", "playing", "pause", "seeked", "ended"];
      for (const event of events) video.addEventListener(event, listener);
      return () => {
        for (const event of events) video.removeEventListener(event, listener);
      };
    },
  };
}
