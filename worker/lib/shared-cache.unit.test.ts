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
