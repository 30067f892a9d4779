import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../root.mjs";
import { liveManifest } from "#worker/services/demo-match/dash.ts";
import { LIVE_SEGMENTS, livePlaylist, matchStart, multivariantPlaylist } from "#worker/services/demo-match/hls.ts";
import { MATCH_SECONDS, RENDITIONS, SEGMENT_COUNT, SEGMENT_SECONDS } from "#worker/services/demo-match/match-video.ts";

const FOLDER = join(ROOT, "docs/public/match");
const [SMALLEST] = RENDITIONS;
if (!SMALLEST) throw new Error("There are no renditions");

/** The segments of a live playlist, with what applies to each. */
function segmentsAt(now: number) {
  const lines = livePlaylist(SMALLEST ?? { id: "", width: 0, height: 0, codec: "", bandwidth: 0 }, now).split("\n");
  const value = (tag: string) => Number(lines.find((line) => line.startsWith(`${tag}:`))?.slice(tag.length + 1));
  let number = value("#EXT-X-MEDIA-SEQUENCE");
  let discontinuity = value("#EXT-X-DISCONTINUITY-SEQUENCE");
  let date = "";
  const segments: { number: number; discontinuity: number; date: number; file: string }[] = [];
  for (const line of lines) {
    if (line === "#EXT-X-DISCONTINUITY") discontinuity++;
    else if (line.startsWith("#EXT-X-PROGRAM-DATE-TIME:")) date = line.slice("#EXT-X-PROGRAM-DATE-TIME:".length);
    else if (line !== "" && !line.startsWith("#")) segments.push({ number: number++, discontinuity, date: Date.parse(date), file: line });
  }
  return segments;
}

describe("the files of the match video", () => {
  test("are complete and at most 6 MB", () => {
    const sizes = RENDITIONS.flatMap(({ id, bandwidth }) => {
      const files = readdirSync(join(FOLDER, id));
      expect(files.sort()).toEqual(["init.mp4", ...Array.from({ length: SEGMENT_COUNT }, (_, index) => `${index}.m4s`)].sort());
      const bytes = files.map((file) => statSync(join(FOLDER, id, file)).size);
      expect((Math.max(...bytes) * 8) / SEGMENT_SECONDS, `${id} stays below its declared bandwidth`).toBeLessThanOrEqual(bandwidth);
      return bytes;
    });
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(6_000_000);
  });

  test("are what its playlists name", () => {
    for (const line of multivariantPlaylist()
      .split("\n")
      .filter((one) => one !== "" && !one.startsWith("#")))
      expect(existsSync(join(FOLDER, line)), line).toBe(true);
    for (const { file } of segmentsAt(Date.UTC(2026, 10, 22))) expect(existsSync(join(ROOT, "docs/public", file)), file).toBe(true);
  });
});

describe("the live playlist", () => {
  const start = matchStart(Date.UTC(2026, 10, 22, 12, 1));

  test("ends with the last complete segment, whose date is that of its first picture", () => {
    const segments = segmentsAt(start + 61_000);
    expect(segments).toHaveLength(LIVE_SEGMENTS);
    expect(segments.at(-1)).toMatchObject({ date: start + 56_000, file: "/match/240p/14.m4s" });
  });

  test("gives each segment the same number, discontinuity and date as long as it lists it", () => {
    const known = new Map<number, object>();
    for (let now = start; now < start + 3 * MATCH_SECONDS * 1000; now += 1_700) {
      for (const segment of segmentsAt(now)) {
        expect(known.get(segment.number) ?? segment).toEqual(segment);
        known.set(segment.number, segment);
      }
    }
    expect([...known.values()].length).toBe(LIVE_SEGMENTS + (3 * MATCH_SECONDS) / SEGMENT_SECONDS - 1);
  });

  test("has a discontinuity where the match begins again", () => {
    const segments = segmentsAt(start + 20_000);
    const seam = segments.findIndex(({ file }) => file === "/match/240p/0.m4s");
    const again = segments.findLastIndex(({ file }) => file === "/match/240p/0.m4s");
    expect(segments[again]?.discontinuity).toBe((segments[again - 1]?.discontinuity ?? NaN) + 1);
    expect(segments[again]?.date).toBe(start);
    expect(seam).toBeLessThanOrEqual(again);
  });
});

test("the live manifest has a period for each match that can still be played", () => {
  const start = matchStart(Date.UTC(2026, 10, 22, 12, 1));
  const manifest = liveManifest(start + 1_000);
  const origin = Date.parse(/availabilityStartTime="([^"]+)"/.exec(manifest)?.[1] ?? "");
  const starts = [...manifest.matchAll(/<Period id="\d+" start="PT(\d+)S"/g)].map(([, seconds]) => origin + Number(seconds) * 1000);
  expect(starts).toEqual([start - 2 * MATCH_SECONDS * 1000, start - MATCH_SECONDS * 1000, start]);
});
