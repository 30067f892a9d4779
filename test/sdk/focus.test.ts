import { describe, expect, test } from "vitest";
import { type Box, nearest } from "#sdk/react/focus.ts";

const box = (left: number, top: number, width = 100, height = 40): Box => ({ left, top, right: left + width, bottom: top + height });

describe("the next focused element", () => {
  const grid = [box(0, 0), box(120, 0), box(0, 60), box(120, 60)];
  const from = (index: number) => ({ here: grid[index] ?? box(0, 0), others: grid });

  test.each([
    [0, "right", 1],
    [0, "down", 2],
    [3, "left", 2],
    [3, "up", 1],
  ] as const)("from %i to the %s is %i", (start, direction, expected) => {
    const { here, others } = from(start);
    expect(nearest(here, others, direction)).toBe(expected);
  });

  test("is undefined if there is nothing in that direction", () => {
    const { here, others } = from(0);
    expect(nearest(here, others, "up")).toBeUndefined();
    expect(nearest(here, others, "left")).toBeUndefined();
  });

  test("is rather one straight ahead than a nearer one to the side", () => {
    expect(nearest(box(0, 0), [box(300, 50), box(0, 120)], "down")).toBe(1);
  });
});
