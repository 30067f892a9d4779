import type { Binding, RuleTrigger } from "#db/types.ts";
import { freshValue, type KnownFacts, readFact } from "./facts.ts";

// What makes rules fire. Pure: the same rules, facts and event always give the same answer.

/** A rule as the engine needs it. */
export interface EngineRule {
  id: string;
  jsonRule: { trigger: RuleTrigger };
}

export interface EngineEvent {
  id: string;
  /** When it came, in milliseconds. */
  at: number;
  data: unknown;
}

/** Rules by the provider and the fact that they wait for, so that an event asks only those that it concerns. */
export type RuleIndex<Rule> = Map<string, Map<string, Rule[]>>;

export function indexRules<Rule extends EngineRule>(rules: Rule[]): RuleIndex<Rule> {
  const index: RuleIndex<Rule> = new Map();
  for (const rule of rules) {
    const { dataProviderId, fact } = rule.jsonRule.trigger;
    const ofProvider = index.get(dataProviderId) ?? new Map<string, Rule[]>();
    index.set(dataProviderId, ofProvider.set(fact, [...(ofProvider.get(fact) ?? []), rule]));
  }
  return index;
}

/** Those of a provider's rules that an event makes fire. `ttl`: seconds for which what was known before still counts; null: for good. */
export function firedBy<Rule extends EngineRule>(
  rules: Map<string, Rule[]>,
  known: KnownFacts,
  event: EngineEvent,
  ttl: number | null,
): Rule[] {
  return [...rules].flatMap(([fact, waiting]) => {
    const value = readFact(event.data, fact);
    if (value === undefined) return [];
    const before = freshValue(Object.hasOwn(known, fact) ? known[fact] : undefined, ttl, event.at);
    return waiting.filter((rule) => fires(rule.jsonRule.trigger, before, value));
  });
}

/** Whether a rule fires: its condition holds now and didn't before. What isn't known (undefined) fulfils no condition. */
export function fires(trigger: Pick<RuleTrigger, "operator" | "value">, before: unknown, value: unknown): boolean {
  return holds(trigger, value) && !holds(trigger, before);
}

/** Values are compared as what they are: a number is no text that looks like one. */
export function holds({ operator, value: expected }: Pick<RuleTrigger, "operator" | "value">, actual: unknown): boolean {
  if (actual === undefined) return false;
  switch (operator) {
    case "equals":
      return actual === expected;
    case "not_equals":
      return actual !== expected;
    case "greater_than":
      return typeof actual === "number" && typeof expected === "number" && actual > expected;
    case "less_than":
      return typeof actual === "number" && typeof expected === "number" && actual < expected;
    case "contains":
      if (Array.isArray(actual)) return actual.includes(expected);
      return typeof actual === "string" && typeof expected === "string" && actual.includes(expected);
  }
}

/** Milliseconds between the event and the firing. */
export function delayOf({ behavior, delaySeconds = DEFAULT_DELAY_SECONDS }: RuleTrigger): number {
  return behavior === "delayed" ? delaySeconds * 1000 : 0;
}

/** Of a delayed rule that doesn't say. */
export const DEFAULT_DELAY_SECONDS = 5;

/** Why a rule can't do what it is to do; goes into its log. */
export class RuleProblem extends Error {}

/** What a binding stands for in this event. A path of which the event says nothing is the rule's failure. */
export function bound<Value>(binding: Binding<Value>, event: unknown): unknown {
  if (binding.type === "static") return binding.value;
  const value = readFact(event, binding.value);
  if (value === undefined || value === null) throw new RuleProblem(`The event says nothing at ${binding.value}`);
  return value;
}
