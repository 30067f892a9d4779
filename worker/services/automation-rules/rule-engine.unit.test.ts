import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KnownFacts, updateFacts } from "./facts.ts";
import { resolveBinding, delayOf, triggeredRules, fires, matches, indexRules, RuleError } from "./rule-engine.ts";
import type { RuleTrigger } from "#db/types.ts";

type Operator = RuleTrigger["operator"];

function ruleOf(change: Partial<RuleTrigger> = {}, id = "rule") {
  const trigger: RuleTrigger = { dataProviderId: "p", fact: "score", operator: "equals", value: 2, behavior: "immediate", ...change };
  return { id, jsonRule: { trigger } };
}

describe("a condition", () => {
  test.each<[Operator, unknown, string | number | boolean, boolean]>([
    ["equals", 2, 2, true],
    ["equals", "2", 2, false],
    ["equals", 2, "2", false],
    ["equals", "goal", "goal", true],
    ["equals", "Goal", "goal", false],
    ["equals", true, true, true],
    ["equals", 1, true, false],
    ["equals", null, "null", false],
    ["equals", undefined, "undefined", false],
    ["not_equals", 3, 2, true],
    ["not_equals", 2, 2, false],
    ["not_equals", null, 2, true],
    ["not_equals", undefined, 2, false],
    ["greater_than", 3, 2, true],
    ["greater_than", 2, 2, false],
    ["greater_than", "3", 2, false],
    ["greater_than", true, 0, false],
    ["greater_than", "b", "a", false],
    ["less_than", 1, 2, true],
    ["less_than", 2, 2, false],
    ["less_than", null, 2, false],
    ["contains", "penalty goal", "goal", true],
    ["contains", "penalty", "goal", false],
    ["contains", ["goal", 2], "goal", true],
    ["contains", ["goal", 2], 2, true],
    ["contains", ["2"], 2, false],
    ["contains", 22, 2, false],
    ["contains", { goal: 1 }, "goal", false],
  ])("%s: %j against %j is %s", (operator, actual, value, expected) => {
    expect(matches({ operator, value }, actual)).toBe(expected);
  });
});

describe("a rule", () => {
  const atTwo = { operator: "equals", value: 2 } as const;

  test.each([
    ["when the first known value matches", undefined, 2, true],
    ["when the value starts to match", 1, 2, true],
    ["not while the value keeps matching", 2, 2, false],
    ["not when the value stops matching", 2, 1, false],
    ["not without a value", 1, undefined, false],
  ])("fires %s", (_, before, value, expected) => {
    expect(fires(atTwo, before, value)).toBe(expected);
  });

  /** The values that fired the rule, for events one second apart. */
  function play(values: (number | undefined)[], trigger: Partial<RuleTrigger> = {}, ttl: number | null = null): (number | undefined)[] {
    const rules = indexRules([ruleOf(trigger)]).get("p") ?? new Map<string, never>();
    let known: KnownFacts = {};
    return values.filter((score, index) => {
      const event = { id: String(index).padStart(6, "0"), at: index * 1000, data: score === undefined ? {} : { score } };
      const fired = triggeredRules(rules, known, event, ttl);
      known = updateFacts(known, ["score"], event);
      return fired.length > 0;
    });
  }

  test("fires once for a score that stays, and again when it falls and returns", () => {
    expect(play([0, 2, 2, undefined, 2, 1, 2])).toEqual([2, 2]);
    expect(play([0, 1, 2, 3, 1, 4, 5], { operator: "greater_than", value: 1 })).toEqual([2, 4]);
  });

  test("fires again for a fact that has expired", () => {
    expect(play([2, 2, undefined, undefined, 2], {}, 2)).toEqual([2, 2]);
    expect(play([2, 2, undefined, undefined, 2], {}, 3)).toEqual([2]);
  });

  test("fires exactly when its condition becomes true, for any values", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 })), (values) => {
        const rises = values.filter((value, index) => value > 2 && !((values[index - 1] ?? 0) > 2));
        expect(play(values, { operator: "greater_than", value: 2 })).toEqual(rises);
      }),
    );
  });

  test("is evaluated only for its own provider and the facts in the event", () => {
    const rules = [ruleOf({}, "score"), ruleOf({ fact: "minute" }, "minute"), ruleOf({ dataProviderId: "q" }, "other")];
    const index = indexRules(rules);
    const event = { id: "1", at: 0, data: { score: 2 } };
    expect(triggeredRules(index.get("p") ?? new Map<string, never>(), {}, event, null)).toEqual([rules[0]]);
    expect(index.get("r")).toBeUndefined();
  });
});

describe("a binding", () => {
  const event = { scorer: { name: "Ada" }, none: null };

  test("resolves to its static value, or the value at its path", () => {
    expect(resolveBinding({ type: "static", value: "scorer.name" }, event)).toBe("scorer.name");
    expect(resolveBinding({ type: "dynamic", value: "scorer.name" }, event)).toBe("Ada");
  });

  test.each(["scorer.age", "none", "toString"])("to %s throws if the event has no value there", (path) => {
    expect(() => resolveBinding({ type: "dynamic", value: path }, event)).toThrow(new RuleError(`The event has no value at ${path}`));
  });
});

test("a delay is in seconds, and defaults to 5 for a delayed rule", () => {
  expect(delayOf(ruleOf({ behavior: "delayed", delaySeconds: 30 }).jsonRule.trigger)).toBe(30_000);
  expect(delayOf(ruleOf({ behavior: "delayed" }).jsonRule.trigger)).toBe(5_000);
  expect(delayOf(ruleOf({ behavior: "immediate", delaySeconds: 30 }).jsonRule.trigger)).toBe(0);
});
