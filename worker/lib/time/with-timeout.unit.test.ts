import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { firstSuccess, isTimeout, settlesWithin, SharedDeadline, TimeoutError, withDeadline, withTimeout } from "./with-timeout.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("a deadline leaves no timer once the work succeeds or fails", async () => {
  expect(await withDeadline(15_000, async (signal) => signal.aborted)).toBe(false);
  await expect(withDeadline(15_000, () => Promise.reject(new Error("rejected")))).rejects.toThrow("rejected");
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

test("settlesWithin tells whether a promise settles in time, in whichever way", async () => {
  const after = (ms: number) => new Promise((done) => setTimeout(done, ms));
  const asked = Promise.all([
    settlesWithin(after(1_000), 2_000),
    settlesWithin(Promise.reject(new Error("failed")), 2_000),
    settlesWithin(after(3_000), 2_000),
  ]);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await asked).toEqual([true, true, false]);
  expect(vi.getTimerCount()).toBe(0);
});

test("firstSuccess returns what succeeds first, and fails only with the last one", async () => {
  const never = new Promise<string>(() => undefined);
  const failing = (message: string) => Promise.reject<string>(new Error(message));
  expect(await firstSuccess([never, Promise.resolve("earlier")], never)).toBe("earlier");
  expect(await firstSuccess([never, failing("earlier")], Promise.resolve("last"))).toBe("last");
  await expect(firstSuccess([never, failing("earlier")], failing("last"))).rejects.toThrow("last");
});

test("a timeout is recognised by its class, also as the cause of another error", () => {
  expect(isTimeout(new Error("failed", { cause: new TimeoutError(1) }))).toBe(true);
  expect(isTimeout(new Error("No response within 1 ms"))).toBe(false);
});

/** Hangs until it is aborted. */
async function hang(signal: AbortSignal): Promise<never> {
  await new Promise((aborted) => signal.addEventListener("abort", aborted));
  throw signal.reason;
}

test("calls that start together share a timer, which ends with the last of them", async () => {
  const deadline = new SharedDeadline(15_000);
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const calls = ends.map(({ promise }) => deadline.run(() => promise));
  expect(vi.getTimerCount()).toBe(1);
  ends[0]?.resolve();
  await calls[0];
  expect(vi.getTimerCount()).toBe(1);
  ends[1]?.resolve();
  await calls[1];
  expect(vi.getTimerCount()).toBe(0);
});

test("a call with a shared deadline gets at least its time and not much more, and leaves no timer if it fails", async () => {
  const deadline = new SharedDeadline(15_000);
  const ended: string[] = [];
  const begin = (name: string) => deadline.run(hang).catch((error: Error) => ended.push(`${name}: ${error.message}`));
  const calls = [begin("first")];
  await vi.advanceTimersByTimeAsync(249);
  calls.push(begin("second"));
  await vi.advanceTimersByTimeAsync(1);
  calls.push(begin("third"));
  await vi.advanceTimersByTimeAsync(14_999);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual(["first", "second"].map((name) => `${name}: No response within 15000 ms`));
  await vi.advanceTimersByTimeAsync(250);
  await Promise.all(calls);
  expect(ended).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});
