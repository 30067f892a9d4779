import fc from "fast-check";
import { expect, test } from "vitest";
import { contrastOf } from "./contrast.ts";

const Hex = fc.integer({ min: 0, max: 0xffffff }).map((color) => `#${color.toString(16).padStart(6, "0")}`);

// Published WCAG values: #767676 is the lightest grey with enough contrast on white, #777777 just fails.
test.for<[one: string, other: string, contrast: number]>([
  ["#000000", "#ffffff", 21],
  ["#fff", "#FFFFFF", 1],
  ["#767676", "#ffffff", 4.54],
  ["#777777", "#ffffff", 4.48],
  ["#0000ff", "#ffffff", 8.59],
  ["#f00", "#ffffff", 4],
])("%s on %s is %d:1", ([one, other, contrast]) => {
  expect(contrastOf(one, other)).toBeCloseTo(contrast, 2);
});

test("contrast is symmetric, and between 1 and 21", () => {
  fc.assert(
    fc.property(Hex, Hex, (one, other) => {
      const contrast = contrastOf(one, other);
      expect(contrast).toBe(contrastOf(other, one));
      expect(contrast).toBeGreaterThanOrEqual(1);
      expect(contrast).toBeLessThanOrEqual(21.000001);
    }),
  );
});
