import type { VideoPlayer } from "../model/player.ts";
import type { DateRangeLike } from "../cues/cues.ts";
import { type PlayerOptions, segmentClock } from "./adapter.ts";
import { DATE_RANGE, onlyNew, parseDataCues } from "./data-cues.ts";
import { at, elementsOf, secondsAt, textAt } from "./loose.ts";
import { createPlayer } from "./player-cues.ts";

/** The part of video.js that the adapter uses. */
export interface VideoJsPlayer {
  el(): Element;
  textTracks(): unknown;
  tech?(isKnownToBeInternal: boolean): unknown;
  liveTracker?: unknown;
}

/** video.js 8, whose own HLS and DASH support reports the stream's clock for each segment in a metadata track. */
export function videoJs(player: VideoJsPlayer, options?: PlayerOptions): VideoPlayer {
  const video = player.el().querySelector("video");
  if (!video) throw new TypeError("Tifo: the video.js player has no video element");
  const newOf = onlyNew();
  return createPlayer(
    {
      video,
      programDateTime: (time) => segmentClock(segmentsOf(player), time),
      liveTime() {
        const tracker = player.liveTracker;
        return isLiveTracker(tracker) && tracker.isLive() ? tracker.liveCurrentTime() : null;
      },
    },
    {
      read(cues) {
        const playlists = at(at(player.tech?.(true), "vhs"), "playlists");
        const ranges = newOf(elementsOf(at(mediaOf(playlists), "dateRanges"))).flatMap(rangeOf);
        if (ranges.length > 0) cues.dateRanges(Object.fromEntries(ranges.map((range) => [range.id, range])));
        const tracks = elementsOf(player.textTracks()).filter((track) => at(track, "kind") === "metadata");
        const found = newOf(tracks.filter(hasNoSegments).flatMap((track) => elementsOf(at(track, "cues"))));
        // The player's own HLS has date ranges in its playlists, with more of them.
        cues.parsed(parseDataCues(playlists === undefined ? found : found.filter((cue) => at(cue, "type") !== DATE_RANGE)));
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
  const track = elementsOf(player.textTracks()).find((one) => !hasNoSegments(one));
  return elementsOf(at(track, "cues"))
    .map((cue) => {
      const [start, end, date] = [at(cue, "startTime"), at(cue, "endTime"), at(at(cue, "value"), "dateTimeObject")];
      return { start: Number(start), end: Number(end), date: date instanceof Date ? date.getTime() : null };
    })
    .sort((one, other) => one.start - other.start);
}

function hasNoSegments(track: unknown): boolean {
  return at(track, "label") !== "segment-metadata";
}

/** The media playlist that is played. */
function mediaOf(playlists: unknown): unknown {
  const media = at(playlists, "media");
  const playlist: unknown = typeof media === "function" ? Reflect.apply(media, playlists, []) : undefined;
  return playlist;
}

/** A date range of the player's own HLS, which has renamed its attributes: `xComExampleAdId`. */
function rangeOf(range: unknown): DateRangeLike[] {
  const [id, startDate] = [textAt(range, "id"), at(range, "startDate")];
  if (id === null || !(startDate instanceof Date) || typeof range !== "object" || range === null) return [];
  const scheme = textAt(range, "class");
  const attr: Record<string, unknown> = {};
  for (const name of Object.keys(range).filter((one) => !ADDED.has(one))) {
    const value = at(range, name);
    const text = value instanceof Date ? value.toISOString() : typeof value === "number" ? String(value) : value;
    attr[RENAMED[name] ?? attributeName(name)] = text;
  }
  const [duration, plannedDuration] = [secondsAt(range, "duration"), secondsAt(range, "plannedDuration")];
  return [{ id, startDate, duration, plannedDuration, attr, ...(scheme !== null && { class: scheme }) }];
}

/** Properties that the player adds. */
const ADDED: ReadonlySet<string> = new Set(["startTime", "endTime", "classListIndex"]);
const RENAMED: Record<string, string> = { scte35Out: "SCTE35-OUT", scte35In: "SCTE35-IN", scte35Cmd: "SCTE35-CMD" };

function attributeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter}`).toUpperCase();
}
