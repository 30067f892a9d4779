import { expect, test } from "vitest";
import { collapseMs } from "./collapse.ts";

test("takes 40 ms for next to nothing and no more than 190 ms for a whole screen", () => {
  expect(collapseMs(0, false)).toBe(40);
  expect(collapseMs(5000, false)).toBe(190);
});

test("takes longer the more there is to show", () => {
  const times = [36, 144, 360, 720].map((height) => collapseMs(height, false));
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(new Set(times).size).toBe(times.length);
});

test("takes 1 ms for a reader who wants no motion", () => {
  expect(collapseMs(360, true)).toBe(1);
});
