import type { PlayerAdapter } from "../model/player.ts";
import { createAdapter, type PlayerOptions } from "../players/adapter.ts";
import { nativeSource } from "../players/native-source.ts";

/** A `<video>` element without a library. `videoElement` of `@tifo/web/players` does the same and also reports the stream's cues. */
export function videoElement(video: HTMLVideoElement, options?: PlayerOptions): PlayerAdapter {
  return createAdapter(nativeSource(video), options);
}

/** The part of hls.js that reports wall-clock time: `playingDate` comes from the stream's EXT-X-PROGRAM-DATE-TIME. */
export interface HlsLike {
  readonly playingDate: Date | null;
}

/**
 * A live stream in hls.js. Media time is the stream's program time in seconds since `start` (the start of the programme, ms since 1970 UTC);
 * without `start`, in seconds since 1970. `hlsJs` of `@tifo/web/players` does the same and also follows seeks and discontinuities.
 */
export function hlsProgramDateTime(hls: HlsLike, video: HTMLVideoElement, start = 0): PlayerAdapter {
  const programDateTime = (time: number) =>
    hls.playingDate === null ? null : hls.playingDate.getTime() + (time - video.currentTime) * 1000;
  return createAdapter({ video, programDateTime, liveTime: () => null }, { programmeStart: start });
}
