import { expect, test, vi } from "vitest";
import { numberOf } from "./variables.ts";

const env = (value: string) => ({ TIFO_EVENT_RETENTION_DAYS: value, TIFO_ALERT_ERROR_RATE: value });

test.each(["1", " 45 ", "9007199254740991"])("a valid number applies: %j", (value) => {
  expect(numberOf(env(value), "TIFO_EVENT_RETENTION_DAYS")).toBe(Number(value));
});

test.each(["", " ", "30d", "1,000", "0", "-1", "1.5", "NaN", "Infinity", "1e400"])("the default applies instead of %j", (value) => {
  vi.spyOn(console, "error").mockReturnValue();
  expect(numberOf(env(value), "TIFO_EVENT_RETENTION_DAYS")).toBe(30);
});

test("a share is from 0 to 1", () => {
  vi.spyOn(console, "error").mockReturnValue();
  expect(["0", "0.5", "1", "1.1", "x"].map((value) => numberOf(env(value), "TIFO_ALERT_ERROR_RATE"))).toEqual([0, 0.5, 1, 0.02, 0.02]);
});

test("an invalid value is logged once", async () => {
  vi.resetModules();
  const { numberOf: fresh } = await import("./variables.ts");
  const log = vi.spyOn(console, "error").mockReturnValue();
  for (const value of ["30d", "31d"]) fresh(env(value), "TIFO_EVENT_RETENTION_DAYS");
  const message = 'TIFO_EVENT_RETENTION_DAYS must be a whole number of at least 1, not "30d"';
  const line = { level: "error", event: "variable_invalid", variable: "TIFO_EVENT_RETENTION_DAYS", message };
  expect(log.mock.calls).toEqual([[JSON.stringify(line)]]);
});
