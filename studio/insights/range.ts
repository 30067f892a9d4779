const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The ranges that can be chosen, with the finest steps that the API keeps for so long. */
export const RANGES = {
  day: { text: "Last 24 hours", ms: DAY, step: "minute", stepMs: MINUTE, bucketMs: HOUR },
  week: { text: "Last 7 days", ms: 7 * DAY, step: "hour", stepMs: HOUR, bucketMs: HOUR },
  month: { text: "Last 28 days", ms: 28 * DAY, step: "hour", stepMs: HOUR, bucketMs: DAY },
  quarter: { text: "Last 90 days", ms: 90 * DAY, step: "hour", stepMs: HOUR, bucketMs: DAY },
} as const;

export type RangeName = keyof typeof RANGES;
export const RANGE_NAMES = ["day", "week", "month", "quarter"] as const satisfies readonly RangeName[];

export interface Range {
  from: number;
  to: number;
  step: (typeof RANGES)[RangeName]["step"];
  /** What bars add up: an hour, or a day (UTC). */
  bucketMs: number;
}

/** The range up to now, from the start of a whole bucket. */
export function rangeUntil(name: RangeName, now: number): Range {
  const { ms, step, stepMs, bucketMs } = RANGES[name];
  // Up to the end of the step, so that the address of a request doesn't change with each millisecond.
  const to = Math.ceil(now / stepMs) * stepMs;
  const from = to - ms;
  return { from: Math.ceil(from / stepMs) * stepMs, to, step, bucketMs };
}
