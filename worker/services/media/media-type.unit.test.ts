import { describe, expect, test } from "vitest";
import { sniffMediaType } from "./media-type.ts";

function typeOf(latin1: string): string | undefined {
  return sniffMediaType(Buffer.from(latin1, "latin1"))?.contentType;
}

describe("sniffMediaType", () => {
  test.each([
    ["a PNG", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
    ["a JPEG", "\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
    ["a GIF", "GIF89a\x01\0", "image/gif"],
    ["a WebP", "RIFF\x24\0\0\0WEBPVP8 ", "image/webp"],
    ["an AVIF", "\0\0\0\x1cftypavif\0\0\0\0mif1miaf", "image/avif"],
    ["an AVIF by a compatible brand", "\0\0\0\x1cftypmif1\0\0\0\0miafavif", "image/avif"],
    ["a Rive file", "RIVE\x07\0", "application/rive"],
    ["WebVTT", "WEBVTT\n\n00:01.000 --> 00:02.000\nGoal", "text/vtt; charset=utf-8"],
    ["WebVTT after a byte order mark", "\xef\xbb\xbfWEBVTT - first half\r\n", "text/vtt; charset=utf-8"],
    ["SubRip", "1\r\n00:00:01,000 --> 00:00:02,000\r\nGoal", "application/x-subrip; charset=utf-8"],
    ["an SVG", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"],
    [
      "an SVG with everything that may precede it",
      '\xef\xbb\xbf<?xml version="1.0"?>\n<!-- crest -->\n<!DOCTYPE svg PUBLIC "a" "b">\n<svg>',
      "image/svg+xml",
    ],
    ["an SVG after hundreds of comments", `${"<!-- a -->\n<!---->".repeat(200)}<svg>`, "image/svg+xml"],
  ])("detects %s by its first bytes", (_, content, contentType) => {
    expect(typeOf(content)).toBe(contentType);
  });

  test.each([
    ["nothing", ""],
    ["an HTML page", "<!doctype html><script>alert(1)</script>"],
    ["a page that contains an SVG", "<html><svg></svg></html>"],
    ["an SVG that defines entities", '<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>'],
    ["a WAV", "RIFF\x24\0\0\0WAVEfmt "],
    ["an MP4", "\0\0\0\x18ftypmp42\0\0\0\0mp42isom"],
    ["a HEIC", "\0\0\0\x18ftypheic\0\0\0\0mif1heic"],
    ["a word that only begins like WebVTT", "WEBVTTX"],
    ["a PDF", "%PDF-1.7"],
    ["a ZIP", "PK\x03\x04"],
    ["five hundred comments without an SVG", `${"<!---->".repeat(500)}x`],
  ])("rejects %s", (_, content) => {
    expect(typeOf(content)).toBeUndefined();
  });
});
