import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withDeadline, withTimeout } from "./with-timeout.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("a deadline leaves no timer behind once the work is done, or has failed", async () => {
  expect(await withDeadline(15_000, async (signal) => signal.aborted)).toBe(false);
  await expect(withDeadline(15_000, () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect(vi.getTimerCount()).toBe(0);
});

test("a deadline aborts work that takes longer, and tells why", async () => {
  const hanging = withDeadline(15_000, async (signal) => {
    await new Promise((aborted) => signal.addEventListener("abort", aborted));
    signal.throwIfAborted();
  });
  const outcome = expect(hanging).rejects.toThrow(/timeout/);
  await vi.advanceTimersByTimeAsync(15_000);
  await outcome;
});

test("a promise that takes too long becomes an error, and its timer ends with it", async () => {
  const late = expect(withTimeout(new Promise(() => undefined), 2_000)).rejects.toThrow("No answer within 2000 ms");
  await vi.advanceTimersByTimeAsync(2_000);
  await late;
  expect(await withTimeout(Promise.resolve("in time"), 2_000)).toBe("in time");
  expect(vi.getTimerCount()).toBe(0);
});
