import type { VideoPlayer } from "../model/player.ts";
import { createAdapter, type PlayerOptions, segmentClock } from "./adapter.ts";

/** The part of video.js that the adapter uses. */
export interface VideoJsPlayer {
  el(): Element;
  textTracks(): unknown;
  liveTracker?: unknown;
}

/** video.js 8, whose own HLS and DASH support reports the stream's clock for each segment in a metadata track. */
export function videoJs(player: VideoJsPlayer, options?: PlayerOptions): VideoPlayer {
  const video = player.el().querySelector("video");
  if (!video) throw new TypeError("Tifo: the video.js player has no video element");
  return createAdapter(
    {
      video,
      programDateTime: (time) => segmentClock(segmentsOf(player), time),
      liveTime() {
        const tracker = player.liveTracker;
        return isLiveTracker(tracker) && tracker.isLive() ? tracker.liveCurrentTime() : null;
      },
    },
    options,
  );
}

interface LiveTracker {
  isLive(): boolean;
  liveCurrentTime(): number;
}

function isLiveTracker(value: unknown): value is LiveTracker {
  return typeof value === "object" && value !== null && "isLive" in value && "liveCurrentTime" in value;
}

/** The segments that the player has loaded. */
function segmentsOf(player: VideoJsPlayer): { start: number; end: number; date: number | null }[] {
  const track = elementsOf(player.textTracks()).find((one) => at(one, "label") === "segment-metadata");
  return elementsOf(at(track, "cues"))
    .map((cue) => {
      const [start, end, date] = [at(cue, "startTime"), at(cue, "endTime"), at(at(cue, "value"), "dateTimeObject")];
      return { start: Number(start), end: Number(end), date: date instanceof Date ? date.getTime() : null };
    })
    .sort((one, other) => one.start - other.start);
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** The entries of a list of the DOM's kind, with a length and numbered properties. */
function elementsOf(list: unknown): unknown[] {
  const length = Number(at(list, "length") ?? 0);
  return Array.from({ length }, (_, index) => at(list, String(index)));
}
