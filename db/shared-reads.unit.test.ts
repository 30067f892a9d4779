import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SharedReads } from "./shared-reads.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database whose reads end when the test says so, each with the value that was current when it began. */
function setUp() {
  const reads = new SharedReads<number>();
  const pending: { end: () => void; fail: (error: Error) => void }[] = [];
  const deferred: Promise<unknown>[] = [];
  const database = { value: 1, sent: 0 };
  const load = (): Promise<number> => {
    const seen = database.value;
    database.sent++;
    return new Promise((resolve, reject) => pending.push({ end: () => resolve(seen), fail: reject }));
  };
  const read = (key = "key") => reads.read(key, load, (work) => void deferred.push(work));
  const end = async (): Promise<void> => {
    pending.shift()?.end();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { read, end, pending, database, deferred };
}

test("a read alone is sent at once, and again when it has ended", async () => {
  const { read, end, database } = setUp();
  const first = read();
  await end();
  expect(await first).toBe(1);
  database.value = 2;
  const second = read();
  await end();
  expect([await second, database.sent]).toEqual([2, 2]);
});

test("reads that arrive while one runs share the next one, which sees what was written before they arrived", async () => {
  const { read, end, database } = setUp();
  const first = read();
  database.value = 2;
  const later = [read(), read(), read()];
  expect(database.sent).toBe(1);
  await end();
  expect(await first).toBe(1);
  expect(database.sent).toBe(2);
  database.value = 3;
  const last = [read(), read()];
  await end();
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  await end();
  expect(await Promise.all(last)).toEqual([3, 3]);
  expect(database.sent).toBe(3);
});

test("different reads don't wait for each other", async () => {
  const { read, database } = setUp();
  void read("one");
  void read("other");
  expect(database.sent).toBe(2);
});

test("a read that fails fails for those that share it, and no others", async () => {
  const { read, end, pending, database } = setUp();
  const first = read();
  const later = [read(), read()];
  pending.shift()?.fail(new Error("D1 is away"));
  await expect(first).rejects.toThrow("D1 is away");
  await vi.advanceTimersByTimeAsync(0);
  const failures = Promise.allSettled(later);
  pending.shift()?.fail(new Error("Still away"));
  expect((await failures).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const last = read();
  await end();
  expect([await last, database.sent]).toEqual([1, 3]);
});

test("reads don't wait for a sender that has died for more than five seconds", async () => {
  const { read, end, pending, database } = setUp();
  const dead = read();
  const next = read();
  await vi.advanceTimersByTimeAsync(4_999);
  expect(database.sent).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(database.sent).toBe(2);
  pending.shift();
  await end();
  expect(await next).toBe(1);
  expect(await Promise.race([dead, Promise.resolve("pending")])).toBe("pending");
});

test("a request whose sender has died sends its read itself", async () => {
  const { read, end, pending, database } = setUp();
  void read();
  void read();
  const follower = read();
  await end();
  expect(database.sent).toBe(2);
  // The second one dies.
  pending.length = 0;
  database.value = 2;
  await vi.advanceTimersByTimeAsync(5_001);
  expect(database.sent).toBe(3);
  await end();
  expect(await follower).toBe(2);
});

test("a request whose sender has died before it sent anything sends its read itself", async () => {
  const { read, end, pending, database } = setUp();
  void read();
  void read();
  // Both die, with what the second one waits for.
  vi.clearAllTimers();
  pending.length = 0;
  const follower = read();
  await vi.advanceTimersByTimeAsync(5_001);
  expect(database.sent).toBe(2);
  await end();
  expect(await follower).toBe(1);
});

test("however slow the database is, an audience doesn't send a read each", async () => {
  const { read, end, database } = setUp();
  void read();
  const audience = Promise.all(Array.from({ length: 50 }, () => read()));
  await vi.advanceTimersByTimeAsync(4_000);
  await end();
  expect(database.sent).toBe(2);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(database.sent).toBeLessThanOrEqual(6);
  await end();
  expect(await audience).toEqual(Array.from({ length: 50 }, () => 1));
});

test("a read that others share is kept alive, and forgotten when it has ended", async () => {
  const { read, end, deferred } = setUp();
  const all = [read(), read(), read()];
  await end();
  await end();
  await Promise.all(all);
  // What runs, what waits for it, and what that sends.
  expect(deferred).toHaveLength(3);
  await Promise.all(deferred);
});
