import type { MEDIA_KINDS } from "#db/enums.ts";

const KB = 1024;
const MB = 1024 * KB;

/** The largest file that is taken, whatever its type. */
export const MAX_FILE_BYTES = 25 * MB;

/** How many bytes of a file tell its type. */
export const HEAD_BYTES = 4 * KB;

export interface MediaType {
  kind: (typeof MEDIA_KINDS)[number];
  contentType: string;
  maxBytes: number;
}

const picture = { kind: "image", maxBytes: 10 * MB } as const;
const drawing = { kind: "image", maxBytes: MB } as const;
const animation = { kind: "rive", maxBytes: MAX_FILE_BYTES } as const;
const caption = { kind: "caption", maxBytes: 2 * MB } as const;

/** What a file of each type begins with, one character a byte. */
const BEGINNINGS: [RegExp, MediaType][] = [
  [/^\x89PNG\r\n\x1a\n/, { ...picture, contentType: "image/png" }],
  [/^\xff\xd8\xff/, { ...picture, contentType: "image/jpeg" }],
  [/^GIF8[79]a/, { ...picture, contentType: "image/gif" }],
  [/^RIFF[^]{4}WEBP/, { ...picture, contentType: "image/webp" }],
  // The major brand or, after it and its version, one of the compatible ones.
  [/^[^]{4}ftyp(?:[^]{4}){0,15}?avi[fs]/, { ...picture, contentType: "image/avif" }],
  [/^RIVE/, { ...animation, contentType: "application/rive" }],
  [/^(?:\xef\xbb\xbf)?WEBVTT(?=[ \t\r\n]|$)/, { ...caption, contentType: "text/vtt; charset=utf-8" }],
  [/^(?:\xef\xbb\xbf)?\s*\d+[ \t]*\r?\n\d{2,}:\d\d:\d\d,\d{3} --> \d/, { ...caption, contentType: "application/x-subrip; charset=utf-8" }],
  // Not one whose document type defines entities: they can grow without bounds in whoever shows it.
  // A comment goes to its first end and no further, or each of many could be read in two ways.
  [
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE\s+svg[^>[]*>\s*)*<svg[\s>]/,
    { ...drawing, contentType: "image/svg+xml" },
  ],
];

/** The type that a file's first bytes show; what its sender calls it is not asked. */
export function sniffMediaType(head: Uint8Array): MediaType | undefined {
  const text = Buffer.from(head).toString("latin1");
  return BEGINNINGS.find(([beginning]) => beginning.test(text))?.[1];
}
