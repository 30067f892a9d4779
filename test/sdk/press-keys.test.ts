import { describe, expect, test } from "vitest";
import { TifoProblem } from "#sdk/client/index.ts";
import { PressKeys } from "#sdk/client/press-keys.ts";

const NOW = Date.UTC(2026, 10, 30);
const problem = (status: number, code: string) => new TifoProblem({ status, code, message: "" });

describe("the key of a press", () => {
  test.for([
    new TypeError("Failed to fetch"),
    new DOMException("", "TimeoutError"),
    problem(0, "network"),
    problem(500, "internal"),
    problem(409, "idempotency_in_flight"),
  ])("is the same again for a minute if nobody knows how it ended (%s)", (error) => {
    const keys = new PressKeys();
    const first = keys.keyOf("goal", NOW);
    keys.ended("goal", error);
    expect(keys.keyOf("goal", NOW + 59_999)).toEqual({ key: first.key, isRepeated: true });
    const later = keys.keyOf("goal", NOW + 60_000);
    expect(later.isRepeated).toBe(false);
    expect(later.key).not.toBe(first.key);
  });

  test("is another one for another press, also in between", () => {
    const keys = new PressKeys();
    const first = keys.keyOf("goal", NOW);
    keys.ended("goal", new TypeError("Failed to fetch"));
    expect(keys.keyOf("card", NOW).key).not.toBe(first.key);
    keys.ended("card");
    expect(keys.keyOf("goal", NOW).key).toBe(first.key);
  });

  test.for([undefined, problem(429, "rate_limited"), problem(409, "idempotency_unanswered")])(
    "is a new one after an answer (%s)",
    (error) => {
      const keys = new PressKeys();
      const first = keys.keyOf("goal", NOW);
      keys.ended("goal", error);
      expect(keys.keyOf("goal", NOW).key).not.toBe(first.key);
    },
  );
});
