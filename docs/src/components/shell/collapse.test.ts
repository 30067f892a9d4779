import { expect, test } from "vitest";
import { collapseMs } from "./collapse.ts";

test("takes 40 ms for a few pixels and at most 190 ms for a full screen", () => {
  expect(collapseMs(0, false)).toBe(40);
  expect(collapseMs(5000, false)).toBe(190);
});

test("takes longer the more content there is", () => {
  const times = [36, 144, 360, 720].map((height) => collapseMs(height, false));
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(new Set(times).size).toBe(times.length);
});

test("takes 1 ms with reduced motion", () => {
  expect(collapseMs(360, true)).toBe(1);
});
