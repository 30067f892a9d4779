import { describe, expect, test } from "vitest";
import { normalizeText } from "./text.ts";

const textOf = (raw: string) => {
  const result = normalizeText(raw);
  return result.ok ? result.text : null;
};

describe("normalizeText", () => {
  test.each([
    ["keeps plain text", "What a save!", "What a save!"],
    ["trims", "  goal \t", "goal"],
    ["composes characters", "Cafe\u0301", "Café"],
    ["turns line breaks into spaces", "one\r\ntwo\nthree\u2028four", "one two three four"],
    ["strips control characters", "a\u0000b\u0007c\u009b", "abc"],
    ["strips bidirectional overrides, embeddings and isolates", "safe\u202egnp.exe\u2066x\u2069", "safegnp.exex"],
    ["keeps the marks that right-to-left text needs", "\u200fשלום", "\u200fשלום"],
    ["strips lone surrogates", "a\ud800b", "ab"],
    ["keeps the joiners of emoji", "👨‍👩‍👧", "👨‍👩‍👧"],
    ["keeps at most four combining marks on one letter", `Z${"\u0335".repeat(40)}algo`, `Z${"\u0335".repeat(4)}algo`],
    ["keeps the vowels of Thai and Hebrew", "สวัสดี שָׁלוֹם", "สวัสดี שָׁלוֹם"],
    ["accepts 500 emoji", "🎉".repeat(500), "🎉".repeat(500)],
    ["accepts 500 letters that are more before they are composed", "e\u0301".repeat(500), "é".repeat(500)],
    ["rejects 501 emoji", "🎉".repeat(501), null],
    ["rejects an empty text", "", null],
    ["rejects whitespace", " \n\t\u00a0\u3000", null],
    ["rejects zero-width characters alone", "\u200b\u200d\u2060", null],
    ["rejects combining marks alone", "\u0301\u0301", null],
    ["rejects invisible Hangul fillers", "\u3164\u115f", null],
  ])("%s", (_, raw, expected) => {
    expect(textOf(raw)).toBe(expected?.normalize("NFC") ?? null);
  });

  test("changes nothing in a text that it has normalized", () => {
    for (const raw of ["a\u0000\nb", `Z${"\u0335".repeat(9)}`, " x\u202e y "]) {
      const once = textOf(raw);
      expect(textOf(once ?? "")).toBe(once);
    }
  });
});
