import { expect, test } from "vitest";
import { LogSampler } from "./log-sampler.ts";

const weigh = (sampler: LogSampler, lines: number, rate: number, now: number) =>
  Array.from({ length: lines }, () => sampler.weigh(rate, now));

test("all lines are written up to the rate, and one in a hundred beyond it, which says that it stands for a hundred", () => {
  const sampler = new LogSampler();
  const weights = weigh(sampler, 1_050, 50, 1_000);
  expect(weights.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 1));
  expect(weights.slice(50).filter((weight) => weight > 0)).toEqual(Array.from({ length: 10 }, () => 100));
  expect(weights.reduce((sum, weight) => sum + weight)).toBe(1_050);
  expect(weigh(sampler, 50, 50, 2_000).every((weight) => weight === 1)).toBe(true);
});

test("without a rate, every line is written", () => {
  for (const rate of [0, NaN]) expect(weigh(new LogSampler(), 5_000, rate, 1).every((weight) => weight === 1)).toBe(true);
});
