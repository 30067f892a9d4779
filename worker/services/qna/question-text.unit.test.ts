import { describe, expect, test } from "vitest";
import { Failure } from "#worker/lib/errors.ts";
import { maskQuestion } from "./question-text.ts";

const strict = { filteredWords: ["offside ref"], allowLinks: false };

describe("maskQuestion", () => {
  test.each<[string, string, string]>([
    ["puts the text on one line", "Who\nstarts? ", "Who starts?"],
    ["masks filtered words, whatever their case and accents", "Is the RÉF blind?", "Is the *** blind?"],
    ["masks links", "Seen example.com yet?", "Seen [link] yet?"],
    ["removes characters that reverse the text around them", "Who \u202estarts?", "Who starts?"],
  ])("%s", (_, raw, text) => {
    expect(maskQuestion(raw, strict, false).text).toBe(text);
  });

  test("keeps the unmasked text only if it differs", () => {
    expect(maskQuestion("Who starts?", strict, false).original).toBeNull();
    expect(maskQuestion("Is the ref blind?", strict, false).original).toBe("Is the ref blind?");
  });

  test("leaves links of moderators, and everybody's where the channel allows them", () => {
    const text = "Seen https://example.com yet?";
    expect(maskQuestion(text, strict, true).text).toBe(text);
    expect(maskQuestion(text, { ...strict, allowLinks: true }, false).text).toBe(text);
    expect(maskQuestion("A blind ref?", strict, true).text).toBe("A blind ***?");
  });

  test("rejects blank text and more than 500 characters", () => {
    for (const raw of ["", " \u200b ", "é".repeat(501)]) expect(() => maskQuestion(raw, strict, false)).toThrow(Failure);
  });
});
