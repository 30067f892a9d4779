import { describe, expect, test } from "vitest";
import { maskWords, wordFilterOf } from "./filtered-words.ts";

const filter = wordFilterOf(["offside ref", "Ärger f*ck co-op", ""]);

describe("maskWords", () => {
  test.each([
    ["masks a word", "the ref is late", "the *** is late"],
    ["keeps a text without filtered words", "what a save", "what a save"],
    ["ignores case", "OffSide!", "*******!"],
    ["masks whole words only", "referee, preref, ref's", "referee, preref, ***'s"],
    ["masks words at the ends and between punctuation", "ref, (ref) ref", "***, (***) ***"],
    ["ignores accents", "réf ärger ARGER", "*** ***** *****"],
    ["ignores combining marks that aren't composed", "r\u0337e\u0337f\u0337", "***"],
    ["ignores zero-width characters inside a word", "r\u200be\u200df\u2060 r\u00adef", "*** ***"],
    ["ignores variation selectors and tags", "r\ufe0fe\u{e0061}f", "***"],
    ["folds compatibility letters", "ｒｅｆ 𝐫𝐞𝐟", "*** ***"],
    ["counts a word with a digit or letter beside it as another word", "ref1 1ref refé", "ref1 1ref refé"],
    ["masks entries with punctuation, keeping it", "f*ck and co-op", "**** and **-**"],
    ["masks entries with punctuation as a whole only", "co-opt", "co-opt"],
    ["keeps what only resembles an entry with punctuation", "f ck, fork, co+op, do-op", "f ck, fork, co+op, do-op"],
    ["keeps emoji", "🎉 ref 👨‍👩‍👧", "🎉 *** 👨‍👩‍👧"],
  ])("%s", (_, text, expected) => {
    expect(maskWords(text, filter)).toBe(expected);
  });

  test.each([
    [[], "ref f*ck"],
    [["ref"], "*** f*ck"],
    [["f*ck"], "ref ****"],
    [["\u0301 ref"], "*** f*ck"],
  ])("masks what is on the lists %j alone", (lists, expected) => {
    expect(maskWords("ref f*ck", wordFilterOf(lists))).toBe(expected);
  });

  test("finds no word in a text that it has masked", () => {
    const masked = maskWords("ref r\u200bef OFFSIDE f*ck", filter);
    expect(maskWords(masked, filter)).toBe(masked);
  });
});
