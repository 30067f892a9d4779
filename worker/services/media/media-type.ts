import type { MEDIA_KINDS } from "#db/enums.ts";

const KB = 1024;
const MB = 1024 * KB;

/** The largest accepted file of any type. */
export const MAX_FILE_BYTES = 25 * MB;

/** How many leading bytes of a file are enough to detect its type. */
export const HEAD_BYTES = 4 * KB;

export interface MediaType {
  kind: (typeof MEDIA_KINDS)[number];
  contentType: string;
  maxBytes: number;
}

const raster = { kind: "image", maxBytes: 10 * MB } as const;
const vector = { kind: "image", maxBytes: MB } as const;
const animation = { kind: "rive", maxBytes: MAX_FILE_BYTES } as const;
const caption = { kind: "caption", maxBytes: 2 * MB } as const;

/** The magic bytes of each type, one character per byte. */
const SIGNATURES: [RegExp, MediaType][] = [
  [/^\x89PNG\r\n\x1a\n/, { ...raster, contentType: "image/png" }],
  [/^\xff\xd8\xff/, { ...raster, contentType: "image/jpeg" }],
  [/^GIF8[79]a/, { ...raster, contentType: "image/gif" }],
  [/^RIFF[^]{4}WEBP/, { ...raster, contentType: "image/webp" }],
  // The major brand, or one of the compatible brands that follow it and its version.
  [/^[^]{4}ftyp(?:[^]{4}){0,15}?avi[fs]/, { ...raster, contentType: "image/avif" }],
  [/^RIVE/, { ...animation, contentType: "application/rive" }],
  [/^(?:\xef\xbb\xbf)?WEBVTT(?=[ \t\r\n]|$)/, { ...caption, contentType: "text/vtt; charset=utf-8" }],
  [/^(?:\xef\xbb\xbf)?\s*\d+[ \t]*\r?\n\d{2,}:\d\d:\d\d,\d{3} --> \d/, { ...caption, contentType: "application/x-subrip; charset=utf-8" }],
  // An SVG whose document type defines entities is rejected: expanding them can exhaust the memory of a viewer.
  // A comment ends at its first terminator: ambiguity here would cause exponential backtracking.
  [
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE\s+svg[^>[]*>\s*)*<svg[\s>]/,
    { ...vector, contentType: "image/svg+xml" },
  ],
];

/** Detects the type from a file's first bytes; the declared type is ignored. */
export function sniffMediaType(head: Uint8Array): MediaType | undefined {
  const text = Buffer.from(head).toString("latin1");
  return SIGNATURES.find(([signature]) => signature.test(text))?.[1];
}
