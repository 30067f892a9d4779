import { describe, expect, test } from "vitest";
import { segmentClock } from "#sdk/players/adapter.ts";

describe("the clock of a stream's segments", () => {
  const segments = [
    { start: 0, end: 4, date: 1_000_000 },
    { start: 4, end: 8, date: 1_004_000 },
    // After a discontinuity, the clock has jumped.
    { start: 8, end: 12, date: 1_900_000 },
  ];

  test("counts from the segment that contains the picture", () => {
    expect(segmentClock(segments, 1.5)).toBe(1_001_500);
    expect(segmentClock(segments, 7.96)).toBeCloseTo(1_007_960);
  });

  test("follows a discontinuity from its first picture, even if its time is a rounding error too early", () => {
    expect(segmentClock(segments, 8)).toBe(1_900_000);
    expect(segmentClock(segments, 7.9999)).toBeCloseTo(1_900_000, -1);
  });

  test("continues after the last known segment, and is unknown before the first", () => {
    expect(segmentClock(segments, 13)).toBe(1_905_000);
    expect(segmentClock(segments, -1)).toBeNull();
    expect(segmentClock([], 1)).toBeNull();
    expect(segmentClock([{ start: 0, end: 4, date: null }], 1)).toBeNull();
  });
});
