import { expect, test } from "vitest";
import { costOf, PLAN, usageOf } from "./cost.ts";

const MATCH = { viewers: 1000, hours: 2, broadcasts: 120, shows: 1 };

test("counts a connection, pings and acknowledgements of every viewer, and a relay per 1,500", () => {
  // 360 pings and 120 acknowledgements, of which 20 count as one request, and the connection.
  expect(usageOf(MATCH)).toEqual({ requests: 1000, objectRequests: 25_000, gigabyteSeconds: 900, rowsWritten: 1000 });
  expect(usageOf({ ...MATCH, viewers: 1501 }).gigabyteSeconds).toBe(1800);
});

test("costs the same per viewer for ten times the viewers", () => {
  const one = costOf({ ...MATCH, viewers: 15_000 }).listPrice;
  expect(costOf({ ...MATCH, viewers: 150_000 }).listPrice).toBeCloseTo(10 * one, 10);
});

test("bills the plan, and only what exceeds what it includes", () => {
  expect(costOf(MATCH).month).toBe(PLAN);
  const { lines, month } = costOf({ viewers: 100_000, hours: 2, broadcasts: 120, shows: 30 });
  // 75 M Durable Object requests, of which one million is included, and 67 relays for 60 hours.
  expect(lines[1]?.billed).toBeCloseTo(74 * 0.15, 6);
  expect(lines[2]?.billed).toBeCloseTo((1_809_000 - 400_000) * 12.5e-6, 6);
  expect(month).toBeCloseTo(PLAN + 74 * 0.15 + 1_409_000 * 12.5e-6, 6);
});
