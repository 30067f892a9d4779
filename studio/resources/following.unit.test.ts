import { expect, test } from "vitest";
import { laterTime } from "./following.ts";

const HOUR = 3_600_000;

test.each([
  ["lasts as long as before", 5 * HOUR, 9 * HOUR, 7 * HOUR, 11 * HOUR],
  ["lasts an hour if it had no start", null, 9 * HOUR, 7 * HOUR, 10 * HOUR],
  ["lasts an hour if it had no end", 5 * HOUR, 9 * HOUR, null, 10 * HOUR],
  ["lasts an hour if it ended before its start", 5 * HOUR, 9 * HOUR, 4 * HOUR, 10 * HOUR],
])("what is moved %s", (_, start, moved, end, expected) => {
  expect(laterTime(start, moved, end, HOUR)).toBe(expected);
});
