import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutTitle, containsWord, STOP_WORDS, tokens } from "./query.ts";

describe("tokens", () => {
  test("splits on whitespace and hyphens", () => {
    expect(tokens("  Magic-link\tinvite\n")).toEqual(["magic", "link", "invite"]);
  });

  test("drops stop words, so that a query of only stop words is empty", () => {
    expect(tokens("how do I clear the overlay")).toEqual(["clear", "overlay"]);
    expect(tokens("to be or not to be -")).toEqual([]);
  });

  test("never returns a word with a space, a hyphen or a capital letter, or a stop word", () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        for (const word of tokens(query)) {
          expect(word).toMatch(/^[^\s-]+$/);
          expect(word).toBe(word.toLowerCase());
          expect(STOP_WORDS.has(word)).toBe(false);
        }
      }),
    );
  });
});

describe("a text", () => {
  test("contains a word in another form or with other punctuation", () => {
    expect(containsWord("A policy of a site", "policies")).toBe(true);
    expect(containsWord("Start a live-stream.", "livestream")).toBe(true);
    expect(containsWord("POST /auth/v2/login", "login")).toBe(true);
  });

  test("doesn't contain a word if only its first letters match", () => {
    expect(containsWord("The x axis", "xyzzyplugh")).toBe(false);
  });
});

describe("a title", () => {
  const long = "Everything that a platform has to know about the delivery of overlays to viewers who come back after a while";

  test("of 50 characters or less is kept", () => {
    expect(cutTitle("Positioning and styling", ["styling"])).toBe("Positioning and styling");
  });

  test("that is longer is cut around the matching word", () => {
    const cut = cutTitle(long, ["overlays"]);
    expect(cut).toContain("overlays");
    expect(cut).toMatch(/^….*…$/);
    expect(cut.length).toBeLessThanOrEqual(52);
  });

  test("that is longer and has no matching word keeps its start", () => {
    expect(cutTitle(long, ["roku"])).toMatch(/^Everything.*…$/);
  });
});
