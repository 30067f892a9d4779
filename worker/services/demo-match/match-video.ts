// The demo's match video. `scripts/render-match.ts` renders its files, which are part of the site (`docs/public/match`).

/** The folder's path on the deployment. */
export const MATCH_PATH = "/match";
export const MATCH_SECONDS = 180;
export const SEGMENT_SECONDS = 4;
export const SEGMENT_COUNT = MATCH_SECONDS / SEGMENT_SECONDS;
export const FRAMES_PER_SECOND = 25;

export interface Rendition {
  /** Also the name of its folder. */
  id: string;
  width: number;
  height: number;
  /** In the format of RFC 6381: H.264, High profile. */
  codec: string;
  /** Upper limit in bits per second of every segment; a test compares it with the files. */
  bandwidth: number;
}

/** From the smallest to the largest. */
export const RENDITIONS: readonly Rendition[] = [
  { id: "240p", width: 426, height: 240, codec: "avc1.64001f", bandwidth: 60_000 },
  { id: "360p", width: 640, height: 360, codec: "avc1.64001f", bandwidth: 110_000 },
  { id: "540p", width: 960, height: 540, codec: "avc1.64001f", bandwidth: 190_000 },
];
