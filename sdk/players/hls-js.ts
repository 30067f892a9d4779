import type { VideoPlayer } from "../model/player.ts";
import type { DateRangeLike, MetadataSample } from "../cues/cues.ts";
import { isVideo, type PlayerOptions, seekableEnd, segmentClock } from "./adapter.ts";
import { at, elementsOf, secondsAt } from "./loose.ts";
import { createPlayer } from "./player-cues.ts";

/** The part of hls.js that the adapter uses. */
export interface HlsPlayer {
  readonly media: HTMLMediaElement | null;
  readonly liveSyncPosition: number | null;
  readonly latestLevelDetails: HlsDetails | null;
  on(event: string, listener: (event: unknown, data: unknown) => void): void;
}

interface HlsDetails {
  readonly live: boolean;
  readonly fragments: readonly { readonly start: number; readonly end: number; readonly programDateTime: number | null }[];
  readonly dateRanges: Readonly<Record<string, DateRangeLike | undefined>>;
}

/** hls.js 1.6 or newer, after `attachMedia`. */
export function hlsJs(hls: HlsPlayer, options?: PlayerOptions): VideoPlayer {
  const video = hls.media;
  if (!isVideo(video)) throw new TypeError("Tifo: call hls.attachMedia with a video element first");
  let known: HlsDetails["dateRanges"] | undefined;
  return createPlayer(
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
    {
      follow: (cues) => hls.on("hlsFragParsingMetadata", (_, data) => cues.samples(elementsOf(at(data, "samples")).filter(isSample))),
      read(cues) {
        // The player replaces them when it has read the playlist again.
        const { dateRanges } = hls.latestLevelDetails ?? {};
        if (dateRanges && dateRanges !== known) cues.dateRanges(dateRanges);
        known = dateRanges;
      },
    },
    options,
  );
}

function isSample(value: unknown): value is MetadataSample {
  return at(value, "data") instanceof Uint8Array && secondsAt(value, "pts") !== null;
}
