import { Temporal } from "temporal-polyfill";
import { invalid } from "#worker/lib/errors.ts";

/** Milliseconds since 1970 UTC; `end` is exclusive. */
export interface TimeRange {
  start: number;
  end: number;
}

/** A timestamp in milliseconds, or a date. */
export const TIMESTAMP_OR_DATE = /^(\d{1,15}|\d{4}-\d{2}-\d{2})$/;

/** Whether the runtime knows this IANA time zone name; an offset such as +02:00 isn't one. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Resolves a time range. A date covers its whole day in the time zone, whether that has 23, 24 or 25 hours. */
export function timeRange(query: { startTimestamp: string; endTimestamp: string; timeZone: string }): TimeRange {
  const { startTimestamp, endTimestamp, timeZone } = query;
  const start = /^\d+$/.test(startTimestamp) ? Number(startTimestamp) : midnight("startTimestamp", startTimestamp, timeZone, 0);
  const end = /^\d+$/.test(endTimestamp) ? Number(endTimestamp) : midnight("endTimestamp", endTimestamp, timeZone, 1);
  if (end <= start) throw invalid("endTimestamp", "Must be after startTimestamp");
  return { start, end };
}

/** The start of the day that is `later` days after `day`. */
function midnight(path: string, day: string, timeZone: string, later: number): number {
  try {
    return Temporal.PlainDate.from(day).add({ days: later }).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    throw invalid(path, "Not a valid date");
  }
}
