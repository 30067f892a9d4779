import type { VideoPlayer } from "../model/player.ts";
import type { Cues } from "../cues/cues.ts";
import { isVideo, type PlayerOptions } from "./adapter.ts";
import { DATE_RANGE, onlyNew, parseDataCues } from "./data-cues.ts";
import { at, bytesIn, elementsOf, secondsAt, textAt } from "./loose.ts";
import { createPlayer } from "./player-cues.ts";

/** The part of Shaka Player that the adapter uses. */
export interface ShakaPlayer {
  getMediaElement(): HTMLMediaElement | null;
  getPlayheadTimeAsDate(): Date | null;
  isLive(): boolean;
  seekRange(): { start: number; end: number };
  // Since version 5.
  getAllTimelineRegions?(): readonly unknown[];
  getAllMetadataRegions?(): readonly unknown[];
  getAllEmsgRegions?(): readonly unknown[];
}

/** Shaka Player 4 or newer, after `attach`. Cues need version 5. */
export function shakaPlayer(player: ShakaPlayer, options?: PlayerOptions): VideoPlayer {
  const video = player.getMediaElement();
  if (!isVideo(video)) throw new TypeError("Tifo: call player.attach with a video element first");
  const newOf = onlyNew();
  return createPlayer(
    {
      video,
      programDateTime(time) {
        const date = player.getPlayheadTimeAsDate();
        // Recordings without a clock count from 1970.
        return date === null || date.getTime() < 1e11 ? null : date.getTime() + (time - video.currentTime) * 1000;
      },
      liveTime: () => (player.isLive() ? player.seekRange().end : null),
    },
    {
      read(cues) {
        for (const region of newOf(player.getAllTimelineRegions?.() ?? [])) readRegion(region, cues);
        for (const region of newOf(player.getAllEmsgRegions?.() ?? [])) readMessage(region, at(at(region, "emsg"), "messageData"), cues);
        const frames = newOf(player.getAllMetadataRegions?.() ?? []).filter((region) => at(region, "schemeIdUri") === "org.id3");
        cues.parsed(parseDataCues(frames.map((region) => ({ startTime: at(region, "startTime"), value: at(region, "payload") }))));
      },
    },
    options,
  );
}

/** A date range of HLS, whose attributes are values, or an event of a DASH manifest. */
function readRegion(region: unknown, cues: Cues): void {
  const [id, time, end] = [textAt(region, "id"), secondsAt(region, "startTime"), secondsAt(region, "endTime")];
  const values = elementsOf(at(region, "values"));
  if (values.length === 0) return readMessage(region, textIn(at(region, "eventNode")).trim(), cues);
  if (id === null || time === null) return;
  const attributes = Object.fromEntries(values.map((value) => [textAt(value, "key") ?? "", textAt(value, "data") ?? ""]));
  const scheme = textAt(region, "schemeIdUri");
  const shared = { id, time, attributes, frames: [], scheme: scheme === DATE_RANGE ? null : scheme };
  cues.parsed([{ kind: "daterange", ...shared, duration: end === null || end <= time ? null : end - time }]);
}

/** ID3 tags are among the player's metadata. */
function readMessage(region: unknown, data: unknown, cues: Cues): void {
  const [schemeIdUri, time, end] = [textAt(region, "schemeIdUri"), secondsAt(region, "startTime"), secondsAt(region, "endTime")];
  if (schemeIdUri === null || time === null || !schemeIdUri.startsWith("urn:scte:scte35")) return;
  cues.eventMessage({
    id: textAt(region, "id") ?? String(time),
    schemeIdUri,
    messageData: bytesIn(data) ?? data,
    calculatedPresentationTime: time,
    ...(end !== null && { duration: end - time }),
  });
}

/** The text of an XML node and those in it, as the player parses them. */
function textIn(node: unknown): string {
  if (typeof node === "string") return node;
  return elementsOf(at(node, "children")).map(textIn).join("");
}
