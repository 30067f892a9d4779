import { describe, expect, test } from "vitest";
import { Failure } from "#worker/lib/errors.ts";
import { isTimeZone, timeRange } from "./time-range.ts";

const HOUR = 3_600_000;

function dayOf(day: string, timeZone: string) {
  return timeRange({ startTimestamp: day, endTimestamp: day, timeZone });
}

describe("timeRange", () => {
  test.each([
    ["2026-03-29", "Europe/London", "2026-03-29T00:00:00Z", 23],
    ["2026-10-25", "Europe/London", "2026-10-24T23:00:00Z", 25],
    ["2026-06-15", "Europe/London", "2026-06-14T23:00:00Z", 24],
    ["2026-11-01", "America/New_York", "2026-11-01T04:00:00Z", 25],
    ["2026-04-05", "Australia/Lord_Howe", "2026-04-04T13:00:00Z", 24.5],
    ["2026-11-21", "Asia/Kathmandu", "2026-11-20T18:15:00Z", 24],
    // Clocks go forward at midnight, so the day starts at 01:00.
    ["2026-03-08", "America/Havana", "2026-03-08T05:00:00Z", 23],
    ["2026-11-21", "UTC", "2026-11-21T00:00:00Z", 24],
  ])("resolves %s in %s to the day that starts at %s and lasts %d hours", (day, timeZone, begins, hours) => {
    const { start, end } = dayOf(day, timeZone);
    expect(new Date(start)).toEqual(new Date(begins));
    expect((end - start) / HOUR).toBe(hours);
  });

  test("rejects a date that does not exist and names the parameter", () => {
    expect(() => timeRange({ startTimestamp: "2026-02-29", endTimestamp: "2026-03-01", timeZone: "UTC" })).toThrow(
      expect.objectContaining({ code: "invalid_request", issues: [{ path: "startTimestamp", message: "Not a valid date" }] }),
    );
  });
  test("returns a range of timestamps unchanged", () => {
    expect(timeRange({ startTimestamp: "5", endTimestamp: "7", timeZone: "Asia/Tokyo" })).toEqual({ start: 5, end: 7 });
  });

  test.each(["5", "4"])("rejects a range from 5 to %s", (endTimestamp) => {
    expect(() => timeRange({ startTimestamp: "5", endTimestamp, timeZone: "UTC" })).toThrow(Failure);
  });
});

test("isTimeZone accepts IANA names only", () => {
  for (const name of ["UTC", "Europe/London", "America/Argentina/Ushuaia", "Asia/Kolkata"]) expect(isTimeZone(name), name).toBe(true);
  for (const name of ["", "Mars/Olympus", "+02:00", "GMT+25", "Europe/London "]) expect(isTimeZone(name), name).toBe(false);
});
