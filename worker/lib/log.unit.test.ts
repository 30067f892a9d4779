import { DrizzleQueryError } from "drizzle-orm/errors";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { describeError, logError } from "./log.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("an error is logged as one line with its event, ids and message", () => {
  const line = vi.spyOn(console, "error").mockReturnValue();
  logError("vote_failed", new Error("counter down"), { siteId: "5eed00000000000000000001", attempt: 2 });
  expect(line.mock.calls.map(([text]): unknown => JSON.parse(String(text)))).toEqual([
    { level: "error", event: "vote_failed", siteId: "5eed00000000000000000001", attempt: 2, message: "Error: counter down" },
  ]);
});

test("an event that fails for everybody is logged 20 times a second and site, and then once in a hundred times", () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const line = vi.spyOn(console, "error").mockReturnValue();
  for (let failure = 0; failure < 220; failure++) logError("flooded", "down", { siteId: "one" });
  logError("other", "down", { siteId: "one" });
  logError("flooded", "down", { siteId: "two" });
  const weights = line.mock.calls.map(
    ([text]): unknown => z.object({ sampled: z.number().optional() }).parse(JSON.parse(String(text))).sampled,
  );
  expect(weights).toEqual([...Array<undefined>(20).fill(undefined), 100, 100, undefined, undefined]);
  vi.advanceTimersByTime(1_000);
  logError("flooded", "down", { siteId: "one" });
  expect(line).toHaveBeenCalledTimes(25);
});

test("the values of a failed statement are never logged", () => {
  const failed = new DrizzleQueryError("insert into accounts", ["mara@example.com"], new Error("D1_ERROR: no such table"));
  expect(failed.message).toContain("mara@example.com");
  expect(describeError(failed)).toBe("Error: D1_ERROR: no such table");
  // Only the message crosses an RPC call.
  expect(describeError(new Error(failed.message))).toBe("A query failed");
});

test("a thrown string is logged as is", () => {
  expect(describeError("gone")).toBe("gone");
});
