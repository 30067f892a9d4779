import { describe, expect, test } from "vitest";
import { freshValue, updateFacts, readFact } from "./facts.ts";

describe("a fact", () => {
  const event = { match: { score: { home: 2 }, minute: 0, scorers: ["Ada"] }, over: false };

  test.each([
    ["match.score.home", 2],
    ["match.minute", 0],
    ["over", false],
    ["match.scorers", ["Ada"]],
    ["match.score.away", undefined],
    ["match.score.home.first", undefined],
    ["match.scorers.0", undefined],
    ["constructor", undefined],
    ["match.__proto__", undefined],
    ["", undefined],
  ])("at path %s is %j", (path, value) => {
    expect(readFact(event, path)).toEqual(value);
  });

  test("expires after the ttl, and never without one", () => {
    const fact = { value: 2, at: 1_000, eventId: "a" };
    expect(freshValue(fact, 60, 61_000)).toBe(2);
    expect(freshValue(fact, 60, 61_001)).toBeUndefined();
    expect(freshValue(fact, null, 1e15)).toBe(2);
    expect(freshValue(undefined, null, 0)).toBeUndefined();
  });
});

describe("updating facts", () => {
  test("keeps facts that the event doesn't contain", () => {
    const first = updateFacts({}, ["a", "b"], { id: "1", at: 1, data: { a: 1, b: 2 } });
    expect(updateFacts(first, ["a", "b"], { id: "2", at: 2, data: { a: 3 } })).toEqual({
      a: { value: 3, at: 2, eventId: "2" },
      b: { value: 2, at: 1, eventId: "1" },
    });
  });

  test("reads only the given paths, without mutating its input", () => {
    const known = {};
    expect(updateFacts(known, ["a"], { id: "1", at: 1, data: { a: 1, b: 2 } })).toEqual({ a: { value: 1, at: 1, eventId: "1" } });
    expect(known).toEqual({});
  });

  test("doesn't overwrite a newer value with a late event", () => {
    const known = { a: { value: 3, at: 3, eventId: "3" } };
    expect(updateFacts(known, ["a"], { id: "2", at: 2, data: { a: 2 } })).toEqual(known);
  });
});
