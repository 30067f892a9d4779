import { expect, test } from "vitest";
import type { Usage } from "./machine.ts";
import { ratio, type Reading, type Round } from "./rounds.ts";
import { median, percentile } from "./stats.ts";

const QUIET: Usage = { seconds: 1, client: 0.3, server: 0.9, others: 0.02 };

function reading(value: number, usage: Partial<Usage> = {}): Reading {
  return { cell: "cell", value, usage: { ...QUIET, ...usage } };
}

function round(ours: [number, number], bare: number, usage: Partial<Usage> = {}): Round {
  return new Map([
    ["ours", ours.map((value) => reading(value, usage))],
    ["bare", [reading(bare, usage)]],
  ]);
}

test("median and percentile work for odd and even numbers of values", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3);
  expect(percentile([1, 2], 1)).toBe(2);
});

test("compares within each round, both runs of ours with the run in between", () => {
  const rounds = [round([90, 110], 100), round([40, 60], 100), round([200, 200], 100)];
  expect(ratio(rounds, "cell", "ours", "bare", "higher")).toMatchObject({ median: 1, min: 0.5, max: 2, rounds: 3, quiet: true });
});

test("inverts the ratio if lower is better", () => {
  expect(ratio([round([50, 50], 100)], "cell", "ours", "bare", "lower").median).toBe(2);
});

test("ignores disturbed rounds if enough others remain", () => {
  const quiet = [round([100, 100], 100), round([100, 100], 100), round([100, 100], 100)];
  const disturbed = round([10, 10], 100, { others: 0.5 });
  expect(ratio([...quiet, disturbed], "cell", "ours", "bare", "higher")).toMatchObject({ min: 1, rounds: 3, quiet: true });
  expect(ratio([disturbed, disturbed, disturbed, ...quiet.slice(1)], "cell", "ours", "bare", "higher")).toMatchObject({
    rounds: 5,
    quiet: false,
  });
});

test("reports if the client was the bottleneck", () => {
  expect(ratio([round([1, 1], 1, { client: 0.9 })], "cell", "ours", "bare", "higher").clientBound).toBe(true);
});
