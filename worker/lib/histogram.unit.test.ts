import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { merge, observe, quantile } from "./histogram.ts";

const values = fc.array(fc.nat(2 ** 20), { minLength: 1, maxLength: 200 });

function histogramOf(all: number[]) {
  const histogram = new Map<number, number>();
  for (const value of all) observe(histogram, value);
  return histogram;
}

/** The smallest value that this share of all values doesn't exceed. */
function exact(all: number[], share: number): number {
  return all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? NaN;
}

describe("a histogram", () => {
  test("returns quantiles at most a sixteenth too large, and never too small", () => {
    fc.assert(
      fc.property(values, fc.constantFrom(0.5, 0.95, 0.99, 1), (all, share) => {
        const estimate = quantile(histogramOf(all), share) ?? NaN;
        expect(estimate).toBeGreaterThanOrEqual(exact(all, share));
        expect(estimate).toBeLessThanOrEqual(exact(all, share) * (17 / 16));
      }),
    );
  });

  test("merges into the histogram of all values", () => {
    fc.assert(
      fc.property(values, values, (some, others) => {
        expect(merge([histogramOf(some), histogramOf(others)])).toEqual(merge([histogramOf([...some, ...others])]));
      }),
    );
  });

  test("without values has no quantile", () => {
    expect(quantile(new Map(), 0.5)).toBeNull();
  });

  test("counts values outside its range as the nearest end", () => {
    expect(quantile(histogramOf([-5]), 1)).toBe(0);
    expect(quantile(histogramOf([2 ** 40]), 1)).toBeGreaterThanOrEqual(2 ** 20);
  });
});
