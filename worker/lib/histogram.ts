/** Buckets per doubling: a quantile is at most a sixteenth too large. */
const STEPS = 16;
const LARGEST = 2 ** 20;

/** Counts by bucket; bucket widths grow with the value. */
export type Histogram = Map<number, number>;

/** Counts a whole value from 0 to 2^20; values outside count as the nearest end. */
export function observe(histogram: Histogram, value: number, times = 1): void {
  const bucket = bucketOf(Math.min(LARGEST, Math.max(0, Math.round(value))));
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + times);
}

/** Sums several histograms. */
export function merge(histograms: Iterable<readonly [bucket: number, count: number]>[]): Histogram {
  const sum: Histogram = new Map();
  for (const histogram of histograms) for (const [bucket, count] of histogram) sum.set(bucket, (sum.get(bucket) ?? 0) + count);
  return sum;
}

/** The value that this share (0 to 1) of all values doesn't exceed, rounded up within its bucket; null without values. */
export function quantile(histogram: Histogram, share: number): number | null {
  let left = Math.ceil(share * [...histogram.values()].reduce((sum, count) => sum + count, 0));
  if (left === 0) return null;
  for (const [bucket, count] of [...histogram].sort(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return upperBoundOf(bucket);
  }
  return null;
}

function bucketOf(value: number): number {
  const halvings = Math.max(0, Math.floor(Math.log2(Math.max(1, value))) - Math.log2(STEPS));
  return halvings * STEPS + Math.floor(value / 2 ** halvings);
}

function upperBoundOf(bucket: number): number {
  const halvings = Math.max(0, Math.floor(bucket / STEPS) - 1);
  return (bucket - halvings * STEPS + 1) * 2 ** halvings - 1;
}
