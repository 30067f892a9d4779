import { DrizzleQueryError } from "drizzle-orm/errors";
import { afterEach, expect, test, vi } from "vitest";
import { describeError, logError } from "./log.ts";

afterEach(() => vi.restoreAllMocks());

test("an error is one line with its event, what it concerns and what it says", () => {
  const line = vi.spyOn(console, "error").mockReturnValue();
  logError("vote_failed", new Error("counter down"), { siteId: "5eed00000000000000000001", attempt: 2 });
  expect(line.mock.calls.map(([text]): unknown => JSON.parse(String(text)))).toEqual([
    { level: "error", event: "vote_failed", siteId: "5eed00000000000000000001", attempt: 2, message: "Error: counter down" },
  ]);
});

test("what a failed statement was to hold is never written", () => {
  const failed = new DrizzleQueryError("insert into accounts", ["mara@example.com"], new Error("D1_ERROR: no such table"));
  expect(failed.message).toContain("mara@example.com");
  expect(describeError(failed)).toBe("Error: D1_ERROR: no such table");
  // From another object only the text comes over.
  expect(describeError(new Error(failed.message))).toBe("A query failed");
});

test("whatever is thrown is described", () => {
  expect(describeError("gone")).toBe("gone");
});
