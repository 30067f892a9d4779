import { DrizzleQueryError } from "drizzle-orm/errors";
import { expect, test, vi } from "vitest";
import { describeError, logError } from "./log.ts";

test("an error is logged as one line with its event, ids and message", () => {
  const line = vi.spyOn(console, "error").mockReturnValue();
  logError("vote_failed", new Error("counter down"), { siteId: "5eed00000000000000000001", attempt: 2 });
  expect(line.mock.calls.map(([text]): unknown => JSON.parse(String(text)))).toEqual([
    { level: "error", event: "vote_failed", siteId: "5eed00000000000000000001", attempt: 2, message: "Error: counter down" },
  ]);
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
