import { FRAMES_PER_SECOND, MATCH_PATH, MATCH_SECONDS, type Rendition, RENDITIONS, SEGMENT_COUNT, SEGMENT_SECONDS } from "./match-video.ts";

/** Segments that a live playlist lists: viewers can go back four minutes, over the end of a match. */
export const LIVE_SEGMENTS = 60;

/** The playlist of all renditions. Each has its own playlist, `<id>.m3u8`, in the same folder. */
export function multivariantPlaylist(): string {
  const variants = RENDITIONS.flatMap(({ id, width, height, codec, bandwidth }) => [
    `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=${width}x${height},CODECS="${codec}",FRAME-RATE=${FRAMES_PER_SECOND}.000`,
    `${id}.m3u8`,
  ]);
  return lines(["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS", ...variants]);
}

/** The recorded match, whose first picture was taken at `start`. */
export function recordedPlaylist({ id }: Rendition, start: number): string {
  const segments = Array.from({ length: SEGMENT_COUNT }, (_, index) => [
    ...(index === 0 ? [`#EXT-X-PROGRAM-DATE-TIME:${new Date(start).toISOString()}`] : []),
    ...segment(`${id}/${index}.m4s`),
  ]);
  return lines([...header(0), "#EXT-X-PLAYLIST-TYPE:VOD", `#EXT-X-MAP:URI="${id}/init.mp4"`, ...segments.flat(), "#EXT-X-ENDLIST"]);
}

/** The match as a live stream that repeats forever: which segments exist follows from the time, the same for every viewer. */
export function livePlaylist({ id }: Rendition, now: number): string {
  const end = Math.floor(now / 1000 / SEGMENT_SECONDS);
  const first = end - LIVE_SEGMENTS;
  const repeats = Math.floor(first / SEGMENT_COUNT);
  // A discontinuity that is still listed isn't counted yet.
  const discontinuities = first % SEGMENT_COUNT === 0 ? repeats - 1 : repeats;
  const segments = Array.from({ length: LIVE_SEGMENTS }, (_, index) => {
    const number = first + index;
    const begins = number % SEGMENT_COUNT === 0;
    return [
      ...(begins ? ["#EXT-X-DISCONTINUITY"] : []),
      ...(begins || index === 0 ? [`#EXT-X-MAP:URI="${MATCH_PATH}/${id}/init.mp4"`] : []),
      `#EXT-X-PROGRAM-DATE-TIME:${new Date(number * SEGMENT_SECONDS * 1000).toISOString()}`,
      ...segment(`${MATCH_PATH}/${id}/${number % SEGMENT_COUNT}.m4s`),
    ];
  });
  return lines([...header(first), `#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuities}`, ...segments.flat()]);
}

function header(sequence: number): string[] {
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    `#EXT-X-TARGETDURATION:${SEGMENT_SECONDS}`,
    `#EXT-X-MEDIA-SEQUENCE:${sequence}`,
    "#EXT-X-INDEPENDENT-SEGMENTS",
  ];
}

function segment(path: string): string[] {
  return [`#EXTINF:${SEGMENT_SECONDS.toFixed(3)},`, path];
}

function lines(all: string[]): string {
  return `${all.join("\n")}\n`;
}

/** When the match that is on at a time began. */
export function matchStart(now: number): number {
  const length = MATCH_SECONDS * 1000;
  return Math.floor(now / length) * length;
}
