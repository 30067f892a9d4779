import { FRAMES_PER_SECOND, MATCH_PATH, MATCH_SECONDS, RENDITIONS, SEGMENT_SECONDS } from "./match-video.ts";
import { LIVE_SEGMENTS, matchStart } from "./hls.ts";

/** The time that the live stream's presentation time counts from. A match begins exactly then. */
const LIVE_ORIGIN = Date.UTC(2026, 0, 1);
/** Seconds behind the newest segment at which players start. */
const DELAY = 3 * SEGMENT_SECONDS;

const MPD = `xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT${SEGMENT_SECONDS}S"`;

/** The recorded match. */
export function recordedManifest(): string {
  return document(
    `type="static" mediaPresentationDuration="PT${MATCH_SECONDS}S"`,
    `  <Period id="match" start="PT0S">\n${renditions("")}  </Period>\n`,
  );
}

/** The same live stream as the live HLS playlists: each match is a period. */
export function liveManifest(now: number): string {
  const current = matchStart(now);
  const length = MATCH_SECONDS * 1000;
  const periods = [current - 2 * length, current - length, current].filter((start) => start >= LIVE_ORIGIN);
  const attributes = [
    `type="dynamic" availabilityStartTime="${new Date(LIVE_ORIGIN).toISOString()}" publishTime="${new Date(current).toISOString()}"`,
    `minimumUpdatePeriod="PT${SEGMENT_SECONDS}S" timeShiftBufferDepth="PT${LIVE_SEGMENTS * SEGMENT_SECONDS}S"`,
    `suggestedPresentationDelay="PT${DELAY}S"`,
  ].join(" ");
  const body = periods.map(
    (start) =>
      `  <Period id="${start / length}" start="PT${(start - LIVE_ORIGIN) / 1000}S" duration="PT${MATCH_SECONDS}S">\n${renditions(`${MATCH_PATH}/`)}  </Period>\n`,
  );
  const clock = `  <UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="${new Date(now).toISOString()}"/>\n`;
  return document(attributes, body.join("") + clock);
}

function renditions(folder: string): string {
  const representations = RENDITIONS.map(
    ({ id, width, height, codec, bandwidth }) =>
      `      <Representation id="${id}" bandwidth="${bandwidth}" width="${width}" height="${height}" codecs="${codec}"/>\n`,
  );
  return `    <AdaptationSet contentType="video" mimeType="video/mp4" frameRate="${FRAMES_PER_SECOND}" segmentAlignment="true" startWithSAP="1">
      <SegmentTemplate timescale="1" duration="${SEGMENT_SECONDS}" startNumber="0" initialization="${folder}$RepresentationID$/init.mp4" media="${folder}$RepresentationID$/$Number$.m4s"/>
${representations.join("")}    </AdaptationSet>
`;
}

function document(attributes: string, body: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<MPD ${MPD} ${attributes}>\n${body}</MPD>\n`;
}
