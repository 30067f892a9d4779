import { z } from "@hono/zod-openapi";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clip, wellFormedJson } from "./well-formed.ts";

describe("JSON", () => {
  test.each([
    [String.raw`"\ud800"`, "\ufffd"],
    [String.raw`"\uDFFF."`, "\ufffd."],
    [String.raw`"\ud83d\ude00"`, "😀"],
    [String.raw`"\ud83d\ud83d\ude00\ude00"`, "\ufffd😀\ufffd"],
    [String.raw`"\\ud800"`, String.raw`\ud800`],
    [String.raw`"\\\ud800"`, "\\\ufffd"],
    [String.raw`"\u0041\n\"\ud800\""`, 'A\n"\ufffd"'],
    [String.raw`"😀\ud7ff\ue000"`, "😀\ud7ff\ue000"],
  ])("%s reads as %j", (text, value) => {
    expect(JSON.parse(wellFormedJson(text))).toBe(value);
  });

  test("reads like JSON whose texts are made well-formed afterwards", () => {
    const parts = fc.array(fc.constantFrom("\\ud83d", "\\ude00", "\\\\", "\\n", '\\"', "u", "d83d", "\\u0041", "😀"));
    fc.assert(
      fc.property(parts, (escapes) => {
        const text = `"${escapes.join("")}"`;
        expect(JSON.parse(wellFormedJson(text))).toBe(z.string().parse(JSON.parse(text)).toWellFormed());
      }),
    );
  });

  test("is well-formed in names, too", () => {
    expect(JSON.parse(wellFormedJson(String.raw`{"a\ud800":["\udfff"]}`))).toEqual({ "a\ufffd": ["\ufffd"] });
  });
});

describe("a clipped text", () => {
  test.each([
    ["abc", 2, "ab"],
    ["abc", 3, "abc"],
    ["a😀b", 1, "a"],
    ["a😀b", 2, "a"],
    ["a😀b", 3, "a😀"],
    ["😀", 1, ""],
    ["😀", 2, "😀"],
  ])("%j to %d is %j", (text, length, expected) => {
    expect(clip(text, length)).toBe(expected);
  });
});
