import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isTimeout, TimeoutError, withDeadline, withTimeout } from "./with-timeout.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("a deadline leaves no timer once the work succeeds or fails", async () => {
  expect(await withDeadline(15_000, async (signal) => signal.aborted)).toBe(false);
  await expect(withDeadline(15_000, () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect(vi.getTimerCount()).toBe(0);
});

test("a deadline aborts work that takes longer, which rejects with a TimeoutError", async () => {
  const hanging = withDeadline(15_000, async (signal) => {
    await new Promise((aborted) => signal.addEventListener("abort", aborted));
    signal.throwIfAborted();
  });
  const outcome = expect(hanging).rejects.toThrow(TimeoutError);
  await vi.advanceTimersByTimeAsync(15_000);
  await outcome;
});

test("withTimeout rejects if a promise takes too long, and leaves no timer", async () => {
  const late = expect(withTimeout(new Promise(() => undefined), 2_000)).rejects.toThrow(new TimeoutError(2_000));
  await vi.advanceTimersByTimeAsync(2_000);
  await late;
  expect(await withTimeout(Promise.resolve("in time"), 2_000)).toBe("in time");
  expect(vi.getTimerCount()).toBe(0);
});

test("a timeout is recognised by its class, also as the cause of another error", () => {
  expect(isTimeout(new Error("failed", { cause: new TimeoutError(1) }))).toBe(true);
  expect(isTimeout(new Error("No response within 1 ms"))).toBe(false);
});
