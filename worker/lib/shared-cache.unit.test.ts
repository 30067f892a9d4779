import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Loaded, SharedCache } from "./shared-cache.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const options = { max: 2, waitMs: 1_000, failedMs: 0 };
const fresh = (value: string): Promise<Loaded<string>> => Promise.resolve({ value, freshMs: 5_000 });
const neverSettles = (): Promise<Loaded<string>> => new Promise(() => {});

test("requests that ask while one of them loads share its result", async () => {
  const cache = new SharedCache<string>(options);
  const load = vi.fn(() => fresh("a"));
  expect(await Promise.all([cache.get("key", load), cache.get("key", load)])).toEqual(["a", "a"]);
  expect(load).toHaveBeenCalledTimes(1);
});

test("a request that waits for one that was cancelled loads for itself and for the others", async () => {
  const cache = new SharedCache<string>(options);
  void cache.get("key", neverSettles);
  const load = vi.fn(() => fresh("b"));
  const waiting = Promise.all([cache.get("key", load), cache.get("key", load)]);
  await vi.advanceTimersByTimeAsync(options.waitMs);
  expect(await waiting).toEqual(["b", "b"]);
  expect(load).toHaveBeenCalledTimes(1);
});

test("requests that have waited for long use what succeeds first, the slow load or the one that they began", async () => {
  const cache = new SharedCache<string>(options);
  const taking = (ms: number, value: string) =>
    vi.fn(() => new Promise<Loaded<string>>((done) => setTimeout(done, ms, { value, freshMs: 0 })));
  const slow = taking(1_500, "slow");
  const second = taking(1_500, "second");
  const asked = Promise.all([cache.get("key", slow), ...Array.from({ length: 20 }, () => cache.get("key", second))]);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await asked).toEqual(Array.from({ length: 21 }, () => "slow"));
  expect([slow, second].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

test("however slow the source is, an audience loads three times, and all wait for the first result", async () => {
  const cache = new SharedCache<string>(options);
  const load = vi.fn(() => new Promise<Loaded<string>>((done) => setTimeout(done, 8_000, { value: "a", freshMs: 0 })));
  const asked = Promise.all(Array.from({ length: 20 }, () => cache.get("key", load)));
  await vi.advanceTimersByTimeAsync(8_000);
  expect(await asked).toEqual(Array.from({ length: 20 }, () => "a"));
  expect(load).toHaveBeenCalledTimes(3);
});

test("a load that fails late leaves the outcome to the one that was begun after it", async () => {
  const cache = new SharedCache<string>(options);
  const failing = cache.get("key", () => new Promise((_, reject) => setTimeout(reject, 1_200, new Error("late"))));
  const waiting = cache.get("key", () => new Promise((done) => setTimeout(done, 500, { value: "b", freshMs: 0 })));
  const outcomes = Promise.allSettled([failing, waiting]);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await outcomes).toMatchObject([{ reason: { message: "late" } }, { value: "b" }]);
});

test("a request gives up once three loads have been cancelled", async () => {
  const cache = new SharedCache<string>(options);
  const load = vi.fn(neverSettles);
  for (let sender = 0; sender < 3; sender++) void cache.get("key", load);
  const waiting = Promise.allSettled([cache.get("key", load), cache.get("key", load)]);
  await vi.advanceTimersByTimeAsync(12 * options.waitMs);
  expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(load).toHaveBeenCalledTimes(3);
});

test("a value is used for as long as it is fresh, and not after it was dropped", async () => {
  const cache = new SharedCache<string>(options);
  await cache.get("key", () => fresh("old"));
  expect(await cache.get("key", () => fresh("new"))).toBe("old");
  cache.drop("key");
  expect(await cache.get("key", () => fresh("new"))).toBe("new");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await cache.get("key", () => fresh("newer"))).toBe("newer");
});

test("a value that was dropped while it was loading is not used by later requests", async () => {
  const cache = new SharedCache<string>(options);
  let finish: (loaded: Loaded<string>) => void = () => {};
  const loading = cache.get("key", () => new Promise((resolve) => (finish = resolve)));
  cache.drop("key");
  finish({ value: "old", freshMs: 5_000 });
  expect(await loading).toBe("old");
  expect(await cache.get("key", () => fresh("new"))).toBe("new");
});

test("a failure reaches those that shared it, and the next request loads again", async () => {
  const cache = new SharedCache<string>(options);
  const failing = (): Promise<Loaded<string>> => Promise.reject(new Error("unreachable"));
  const outcomes = await Promise.allSettled([cache.get("key", failing), cache.get("key", failing)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await cache.get("key", () => fresh("a"))).toBe("a");
});

test("how long a failure is repeated can depend on what failed", async () => {
  const cache = new SharedCache<string>({ ...options, failedMs: (error) => (error instanceof TypeError ? 1_000 : 0) });
  const failing = (error: Error) => () => Promise.reject<Loaded<string>>(error);
  await expect(cache.get("one", failing(new TypeError("repeated")))).rejects.toThrow("repeated");
  await expect(cache.get("other", failing(new Error("once")))).rejects.toThrow("once");
  const asked = Promise.allSettled(["one", "other"].map((key) => cache.get(key, () => fresh("a"))));
  expect(await asked).toMatchObject([{ reason: { message: "repeated" } }, { value: "a" }]);
});

test("the entry that was added first makes room for the next one", async () => {
  const cache = new SharedCache<string>(options);
  for (const key of ["1", "2", "3"]) await cache.get(key, () => fresh("old"));
  expect(await cache.get("3", () => fresh("new"))).toBe("old");
  expect(await cache.get("1", () => fresh("new"))).toBe("new");
});

describe("the size of all values together", () => {
  const bounded = { max: 3, waitMs: 1_000, failedMs: 0, sizeOf: ({ length }: string) => length, maxSize: 10 };

  /** A bounded cache of texts, and what it has loaded. */
  function newCache() {
    const cache = new SharedCache<string>(bounded);
    const loads: string[] = [];
    const get = (key: string, value = key) =>
      cache.get(key, () => {
        loads.push(key);
        return Promise.resolve({ value, freshMs: 60_000 });
      });
    return { cache, loads, get };
  }

  test("makes the oldest give way once it is too large, and no more than it must", async () => {
    const { get, loads } = newCache();
    await get("a", "aaaa");
    await get("b", "bbbb");
    await get("c", "cccc");
    await get("b");
    await get("a", "aaaa");
    expect(loads).toEqual(["a", "b", "c", "a"]);
  });

  test("returns a value that is larger than all may be, and doesn't keep it", async () => {
    const { get, loads } = newCache();
    expect(await get("a", "a".repeat(11))).toHaveLength(11);
    await get("a");
    await get("a");
    expect(loads).toEqual(["a", "a"]);
  });

  test("counts a value that is replaced once, and one that failed not at all", async () => {
    const { cache, get, loads } = newCache();
    for (let round = 0; round < 5; round++) cache.put("a", { value: "aaaa", freshMs: 60_000 });
    await expect(cache.get("b", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    await get("c", "cccccc");
    await get("a");
    expect(loads).toEqual(["c"]);
  });
});
