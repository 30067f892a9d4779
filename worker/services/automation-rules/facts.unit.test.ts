import { describe, expect, test } from "vitest";
import { freshValue, learn, readFact } from "./facts.ts";

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
  ])("at %s is %j", (path, value) => {
    expect(readFact(event, path)).toEqual(value);
  });

  test("is usable for as long as the ttl says, and for good without one", () => {
    const fact = { value: 2, at: 1_000, eventId: "a" };
    expect(freshValue(fact, 60, 61_000)).toBe(2);
    expect(freshValue(fact, 60, 61_001)).toBeUndefined();
    expect(freshValue(fact, null, 1e15)).toBe(2);
    expect(freshValue(undefined, null, 0)).toBeUndefined();
  });
});

describe("learning", () => {
  test("keeps what an event says nothing of", () => {
    const first = learn({}, ["a", "b"], { id: "1", at: 1, data: { a: 1, b: 2 } });
    expect(learn(first, ["a", "b"], { id: "2", at: 2, data: { a: 3 } })).toEqual({
      a: { value: 3, at: 2, eventId: "2" },
      b: { value: 2, at: 1, eventId: "1" },
    });
  });

  test("takes only the paths that were asked for, and changes nothing in place", () => {
    const known = {};
    expect(learn(known, ["a"], { id: "1", at: 1, data: { a: 1, b: 2 } })).toEqual({ a: { value: 1, at: 1, eventId: "1" } });
    expect(known).toEqual({});
  });

  test("lets a late event overwrite nothing that is newer", () => {
    const known = { a: { value: 3, at: 3, eventId: "3" } };
    expect(learn(known, ["a"], { id: "2", at: 2, data: { a: 2 } })).toEqual(known);
  });
});
