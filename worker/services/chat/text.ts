import { MAX_TEXT } from "./schemas.ts";

/** How many combining marks one character may have; more would cover the lines above and below. */
const MAX_MARKS = 4;

const LINE_BREAKS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
// Controls, embeddings, overrides and isolates; the plain direction marks stay, because right-to-left text needs them.
const STRIPPED = /(?!\t)\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]/gu;
const EXCESS_MARKS = new RegExp(`(\\p{M}{${MAX_MARKS}})\\p{M}+`, "gu");
const VISIBLE = /[^\s\p{C}\p{M}\p{Z}\u115f\u1160\u3164\uffa0]/u;

/** Zero-width characters: invisible, but part of emoji and of words in some scripts. */
export const ZERO_WIDTH = /[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\u{e0000}-\u{e0fff}]/u;

export type NormalizedText = { ok: true; text: string } | { ok: false; message: string };

/** A message's text as it is stored: NFC, on one line, without characters that affect the text around it. */
export function normalizeText(raw: string): NormalizedText {
  const text = raw.replace(LINE_BREAKS, " ").replace(STRIPPED, "").normalize("NFC").replace(EXCESS_MARKS, "$1").trim();
  if (!VISIBLE.test(text)) return { ok: false, message: "The text is blank" };
  const length = [...text].length;
  if (length > MAX_TEXT) return { ok: false, message: `The text has ${length} characters; at most ${MAX_TEXT} are allowed` };
  return { ok: true, text };
}
