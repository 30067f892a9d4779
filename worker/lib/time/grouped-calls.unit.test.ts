import { describe, expect, test, vi } from "vitest";
import { GroupedCalls } from "./grouped-calls.ts";

describe("grouped calls", () => {
  test("start with the first at once, and share the next call among those that arrive during it", async () => {
    const releases: (() => void)[] = [];
    const call = vi.fn((items: number[]) => new Promise<string>((resolve) => releases.push(() => resolve(items.join()))));
    const grouped = new GroupedCalls(call);
    const first = grouped.add(1);
    await vi.waitFor(() => expect(call).toHaveBeenCalledTimes(1));
    const others = [grouped.add(2), grouped.add(3)];
    releases[0]?.();
    expect(await first).toBe("1");
    await vi.waitFor(() => expect(call).toHaveBeenCalledTimes(2));
    const late = grouped.add(4);
    releases[1]?.();
    expect(await Promise.all(others)).toEqual(["2,3", "2,3"]);
    await vi.waitFor(() => expect(call).toHaveBeenCalledTimes(3));
    releases[2]?.();
    expect(await late).toBe("4");
  });

  test("wait a while between two calls", async () => {
    vi.useFakeTimers({ now: 1_000_000 });
    const call = vi.fn(async (items: number[]) => items.length);
    const grouped = new GroupedCalls(call, 500);
    expect(await grouped.add(1)).toBe(1);
    const rest = [grouped.add(2), grouped.add(3)];
    await vi.advanceTimersByTimeAsync(499);
    expect(call).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all(rest)).toEqual([2, 2]);
    vi.useRealTimers();
  });

  test("fail for all that share a failed call, and go on with the next", async () => {
    let fails = true;
    const grouped = new GroupedCalls(async (items: number[]) => {
      if (fails) throw new Error("down");
      return items.length;
    });
    const failed = await Promise.allSettled([grouped.add(1), grouped.add(2)]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    fails = false;
    expect(await grouped.add(3)).toBe(1);
  });
});
