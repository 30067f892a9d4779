import { expect, test } from "vitest";
import { pauseAfter, RETRY_DELAYS, RETRY_SPAN, retryDelay } from "./backoff.ts";

const HOUR = 3_600_000;

test("the attempts of a delivery span a little more than 75 hours", () => {
  expect(RETRY_SPAN).toBeGreaterThan(75 * HOUR);
  expect(RETRY_SPAN).toBeLessThan(76 * HOUR);
});

test("each delay is longer than the previous one, with up to 10 % jitter, and there is none after the last", () => {
  RETRY_DELAYS.forEach((delay, i) => {
    expect(retryDelay(i + 1, 0)).toBe(delay);
    expect(retryDelay(i + 1, 1)).toBe(Math.round(delay * 1.1));
    expect(delay).toBeGreaterThan(RETRY_DELAYS[i - 1] ?? 0);
  });
  expect(retryDelay(RETRY_DELAYS.length + 1, 0)).toBeUndefined();
});

test("a receiver is paused from its third consecutive failure on, increasingly long, for at most five minutes", () => {
  expect([1, 2, 3, 4, 5].map((failures) => pauseAfter(failures))).toEqual([0, 0, 1_000, 2_000, 4_000]);
  expect(pauseAfter(100)).toBe(300_000);
});
