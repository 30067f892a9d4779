import { describe, expect, test } from "vitest";
import { directionOf, periodOf, spanOf } from "./period.ts";

const NOON = new Date(2026, 10, 28, 12).getTime();
const TODAY = new Date(2026, 10, 28).getTime();
const days = (from: string, to: string) => spanOf(periodOf({ period: "days", from, to }), NOON);

describe("the period of a list", () => {
  test("is what is to come, from the start of today, unless the address names another one", () => {
    expect(periodOf({})).toEqual({ name: "upcoming", from: "", to: "" });
    expect(periodOf({ period: "nonsense" }).name).toBe("upcoming");
    const span = spanOf(periodOf({}), NOON);
    expect(span?.start).toBe(TODAY);
    expect(span?.end).toBeGreaterThan(new Date(9999, 0).getTime());
  });

  test("ends at a midnight of the browser's time zone", () => {
    expect(spanOf(periodOf({ period: "week" }), NOON)).toEqual({ start: TODAY, end: new Date(2026, 11, 5).getTime() });
    expect(spanOf(periodOf({ period: "month" }), NOON)).toEqual({ start: TODAY, end: new Date(2026, 11, 28).getTime() });
    expect(spanOf(periodOf({ period: "past" }), NOON)).toEqual({ start: 0, end: TODAY });
  });

  test("between two days includes both, and is open where a day is missing", () => {
    expect(days("2026-11-21", "2026-11-21")).toEqual({ start: new Date(2026, 10, 21).getTime(), end: new Date(2026, 10, 22).getTime() });
    expect(days("", "2026-11-21")).toMatchObject({ start: 0 });
    expect(days("2026-11-21", "")?.end).toBe(spanOf(periodOf({ period: "all" }), NOON)?.end);
    expect(days("0001-01-01", "")).toMatchObject({ start: 0 });
    expect(days("2026-11-22", "2026-11-21")).toBeNull();
  });

  test("lists what is over from its end", () => {
    expect((["past", "upcoming", "all"] as const).map((name) => directionOf({ name, from: "", to: "" }))).toEqual([-1, 1, 1]);
  });
});
