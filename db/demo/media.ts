import type { media } from "#db/schema/media.ts";
import { SITE_A, SITE_B, stamps } from "./match-day.ts";

type MediaInsert = typeof media.$inferInsert;

/** The crests of both sides, small enough to be part of the code. */
export const CREST_A = "5eed0000000000000000f001";
/** The rival's crest, on the club's own site. */
export const AWAY_CREST = "5eed0000000000000000f003";
const CREST_B = "5eed0000000000000000f101";

/** Files with their contents. */
export function demoMedia(): { row: MediaInsert; content: string }[] {
  return [
    crest(CREST_A, SITE_A, "harbour-city.svg", "#6E5FFB", WAVE),
    crest(AWAY_CREST, SITE_A, "old-dock.svg", "#C2410C", ANCHOR),
    crest(CREST_B, SITE_B, "old-dock.svg", "#C2410C", ANCHOR),
    captions(),
  ];
}

const WAVE = "M14 38c6-5 12-5 18 0s12 5 18 0";
const ANCHOR = "M32 14v34M24 22h16M18 36c2 8 8 12 14 12s12-4 14-12";

function crest(id: string, siteId: string, fileName: string, colour: string, mark: string): { row: MediaInsert; content: string } {
  const shield = `<path d="M8 6h48v26c0 16-12 24-24 28C20 56 8 48 8 32z" fill="${colour}" stroke="#fff" stroke-width="3"/>`;
  const content = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">${shield}<path d="${mark}" fill="none" stroke="#fff" stroke-width="4"/></svg>`;
  return { row: { ...stamps, id, siteId, fileName, kind: "image", contentType: "image/svg+xml", size: content.length }, content };
}

function captions(): { row: MediaInsert; content: string } {
  const content = "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\nMoreno turns inside, and shoots.\n\n00:00:04.500 --> 00:00:06.000\nGoal!\n";
  const row = { ...stamps, id: "5eed0000000000000000f002", siteId: SITE_A, fileName: "derby.vtt", kind: "caption" as const };
  return { row: { ...row, contentType: "text/vtt; charset=utf-8", size: content.length }, content };
}
