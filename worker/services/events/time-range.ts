import { Temporal } from "temporal-polyfill";
import { invalid } from "#worker/lib/errors.ts";

/** Milliseconds since 1970 UTC; `end` is no longer part of it. */
export interface TimeRange {
  start: number;
  end: number;
}

/** A moment in milliseconds, or a day. */
export const MOMENT_OR_DAY = /^(\d{1,15}|\d{4}-\d{2}-\d{2})$/;

/** Whether the runtime knows this name of a time zone (IANA); an offset such as +02:00 is none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The range between two moments; a day stands for the whole of it in the time zone, be it 23, 24 or 25 hours long. */
export function timeRange(query: { startTimestamp: string; endTimestamp: string; timeZone: string }): TimeRange {
  const { startTimestamp, endTimestamp, timeZone } = query;
  const start = /^\d+$/.test(startTimestamp) ? Number(startTimestamp) : midnight("startTimestamp", startTimestamp, timeZone, 0);
  const end = /^\d+$/.test(endTimestamp) ? Number(endTimestamp) : midnight("endTimestamp", endTimestamp, timeZone, 1);
  if (end <= start) throw invalid("endTimestamp", "Must be after startTimestamp");
  return { start, end };
}

/** When the day begins, or one some days later. */
function midnight(path: string, day: string, timeZone: string, later: number): number {
  try {
    return Temporal.PlainDate.from(day).add({ days: later }).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    throw invalid(path, "No such day");
  }
}
