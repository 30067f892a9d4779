import { expect, test } from "vitest";
import { bloomMayHave, bloomOf } from "#worker/lib/bloom.ts";
import { bucketOf } from "./hash.ts";
import { newId } from "#worker/lib/ids.ts";

const keys = Array.from({ length: 10_000 }, () => newId(Date.now()));

test("bucketOf distributes keys evenly over buckets", () => {
  for (const buckets of [1, 2, 7, 100]) {
    const counts = new Array<number>(buckets).fill(0);
    for (const key of keys) counts[bucketOf(key, buckets)] = (counts[bucketOf(key, buckets)] ?? 0) + 1;
    expect(Math.min(...counts)).toBeGreaterThan((keys.length / buckets) * 0.6);
    expect(Math.max(...counts)).toBeLessThan((keys.length / buckets) * 1.5);
  }
});

test("bucketOf moves keys only to the new bucket when one is added", () => {
  for (const buckets of [1, 2, 9, 40]) {
    const moved = keys.filter((key) => bucketOf(key, buckets) !== bucketOf(key, buckets + 1));
    expect(moved.every((key) => bucketOf(key, buckets + 1) === buckets)).toBe(true);
    expect(moved.length).toBeLessThan((keys.length / (buckets + 1)) * 1.5);
  }
});

test("a Bloom filter contains every member of its set, and few others", () => {
  for (const size of [1, 20, 1_500]) {
    const [members, others] = [new Set(keys.slice(0, size)), keys.slice(size)];
    const filter = bloomOf(members);
    expect([...members].every((member) => bloomMayHave(filter, member))).toBe(true);
    expect(others.filter((other) => bloomMayHave(filter, other)).length).toBeLessThan(others.length * 0.03);
    expect(filter.length).toBeLessThanOrEqual(4_096);
  }
  expect(bloomMayHave(bloomOf(new Set()), "anything")).toBe(false);
});
