import type { ParsedCue } from "../cues/cues.ts";
import type { Id3Frame } from "../cues/id3.ts";
import { hexOf } from "../cues/reader.ts";
import { at, bytesIn, secondsAt, textAt } from "./loose.ts";

/** The type of a date range's cues. */
export const DATE_RANGE = "com.apple.quicktime.HLS";
const ID3 = "org.id3";

/**
 * Reads metadata cues as Safari, video.js and Shaka Player have them: one for each frame of an ID3 tag, and one for each attribute of a date
 * range. Those of the same tag or range become one.
 */
export function parseDataCues(cues: readonly unknown[]): ParsedCue[] {
  const found = new Map<string, ParsedCue>();
  for (const cue of cues) {
    const [value, time] = [at(cue, "value"), secondsAt(cue, "startTime")];
    const key = textAt(value, "key");
    if (key === null || time === null) continue;
    const type = textAt(cue, "type") ?? ID3;
    if (type !== DATE_RANGE && type !== ID3) continue;
    const id = textAt(cue, "id") ?? `${type} ${time}`;
    const known = found.get(id) ?? { ...newCue(type, id, time), duration: type === DATE_RANGE ? lengthOf(cue, time) : null };
    found.set(id, known);
    if (type === ID3) known.frames.push(frameOf(key, value));
    else known.attributes[key] = dataOf(value) ?? "";
  }
  return [...found.values()];
}

function newCue(type: string, id: string, time: number): ParsedCue {
  const shared = { id, time, duration: null, attributes: {}, frames: [] };
  return type === ID3 ? { ...shared, kind: "id3", scheme: ID3 } : { ...shared, kind: "daterange", scheme: null };
}

function lengthOf(cue: unknown, start: number): number | null {
  const end = secondsAt(cue, "endTime");
  return end === null || end <= start ? null : end - start;
}

function frameOf(key: string, value: unknown): Id3Frame {
  const info = textAt(value, "info") ?? textAt(value, "description") ?? textAt(value, "owner") ?? "";
  return { key, info, value: textAt(value, "value") ?? textAt(value, "url") ?? dataOf(value) ?? "" };
}

/** Text as it is, bytes in hexadecimal. */
function dataOf(value: unknown): string | null {
  const bytes = bytesIn(at(value, "data"));
  return bytes ? hexOf(bytes) : textAt(value, "data");
}

/** Lets each object of a player through once. */
export function onlyNew(): (entries: readonly unknown[]) => unknown[] {
  const seen = new WeakSet();
  return (entries) =>
    entries.filter((entry) => {
      if (typeof entry !== "object" || entry === null || seen.has(entry)) return false;
      seen.add(entry);
      return true;
    });
}
