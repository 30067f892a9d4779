import type { VideoPlayer } from "../model/player.ts";
import { createAdapter, isVideo, type PlayerOptions, seekableEnd, segmentClock } from "./adapter.ts";

/** The part of hls.js that the adapter uses. */
export interface HlsPlayer {
  readonly media: HTMLMediaElement | null;
  readonly liveSyncPosition: number | null;
  readonly latestLevelDetails: HlsDetails | null;
}

interface HlsDetails {
  readonly live: boolean;
  readonly fragments: readonly { readonly start: number; readonly end: number; readonly programDateTime: number | null }[];
}

/** hls.js 1.6 or newer, after `attachMedia`. */
export function hlsJs(hls: HlsPlayer, options?: PlayerOptions): VideoPlayer {
  const video = hls.media;
  if (!isVideo(video)) throw new TypeError("Tifo: call hls.attachMedia with a video element first");
  return createAdapter(
    {
      video,
      programDateTime(time) {
        const fragments = hls.latestLevelDetails?.fragments ?? [];
        return segmentClock(
          fragments.map(({ start, end, programDateTime }) => ({ start, end, date: programDateTime })),
          time,
        );
      },
      liveTime: () => (hls.latestLevelDetails?.live === true ? (hls.liveSyncPosition ?? seekableEnd(video)) : null),
    },
    options,
  );
}
