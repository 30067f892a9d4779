import { expect, test } from "vitest";
import { JAVASCRIPT, JSON_TEXT, literal, PYTHON } from "./literal.ts";

const VALUE = { open: true, none: null, "Tifo-Client-Id": ["a", 'b"'] };

test("writes a short value on one line in every language", () => {
  expect(literal(VALUE, JSON_TEXT)).toBe('{ "open": true, "none": null, "Tifo-Client-Id": ["a", "b\\""] }');
  expect(literal(VALUE, JAVASCRIPT)).toBe('{ open: true, none: null, "Tifo-Client-Id": ["a", "b\\""] }');
  expect(literal(VALUE, PYTHON)).toBe('{"open": True, "none": None, "Tifo-Client-Id": ["a", "b\\""]}');
});

test("breaks a long value into lines of valid JSON", () => {
  const long = { list: [VALUE, VALUE], empty: {} };
  expect(literal(long, JSON_TEXT, 4).split("\n").length).toBeGreaterThan(5);
  expect(JSON.parse(literal(long, JSON_TEXT))).toEqual(long);
});
