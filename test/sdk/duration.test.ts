import { expect, test } from "vitest";
import { duration } from "#sdk/react/panel/duration.ts";

test.for([
  [-1, "0:00"],
  [0, "0:00"],
  [9.9, "0:09"],
  [312, "5:12"],
  [3_599, "59:59"],
  [3_600, "1:00:00"],
  [5_580, "1:33:00"],
  [36_065, "10:01:05"],
] as const)("%d seconds are %s", ([seconds, text]) => {
  expect(duration(seconds)).toBe(text);
});
