import { expect, test } from "vitest";
import { corrections } from "./corrections.ts";

const known = new Map([
  ["broadcast", 20],
  ["password", 12],
  ["poll", 30],
  ["pool", 1],
  ["webhook", 9],
]);

test.each([
  ["boradcast", "broadcast"],
  ["pasword", "password"],
  ["wehbook", "webhook"],
  ["pol", "poll"],
])("%s is %s", (word, right) => {
  expect(corrections(word, known)[0]).toBe(right);
});

test("a word with more errors isn't corrected", () => {
  expect(corrections("bordcasd", known)).toEqual([]);
  expect(corrections("plx", known)).toEqual([]);
});
