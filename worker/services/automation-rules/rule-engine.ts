import type { Binding, RuleTrigger } from "#db/types.ts";
import { freshValue, type KnownFacts, readFact } from "./facts.ts";

// Decides which rules fire. Pure: the same rules, facts and event always give the same result.

/** A rule as the engine needs it. */
export interface EngineRule {
  id: string;
  jsonRule: { trigger: RuleTrigger };
}

export interface EngineEvent {
  id: string;
  /** When it was received, in milliseconds. */
  at: number;
  data: unknown;
}

/** Rules by the provider and fact of their trigger, so that an event evaluates only those that it concerns. */
export type RuleIndex<Rule> = Map<string, Map<string, Rule[]>>;

export function indexRules<Rule extends EngineRule>(rules: Rule[]): RuleIndex<Rule> {
  const index: RuleIndex<Rule> = new Map();
  for (const rule of rules) {
    const { dataProviderId, fact } = rule.jsonRule.trigger;
    const byFact = index.get(dataProviderId) ?? new Map<string, Rule[]>();
    index.set(dataProviderId, byFact.set(fact, [...(byFact.get(fact) ?? []), rule]));
  }
  return index;
}

/** The provider's rules that an event fires. `ttl`: how many seconds a known fact is valid; null means forever. */
export function triggeredRules<Rule extends EngineRule>(
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

/** A rule fires when its condition becomes true. An unknown value (undefined) meets no condition. */
export function fires(trigger: Pick<RuleTrigger, "operator" | "value">, before: unknown, value: unknown): boolean {
  return matches(trigger, value) && !matches(trigger, before);
}

/** Compares by type: the number 2 doesn't equal the string "2". */
export function matches({ operator, value: expected }: Pick<RuleTrigger, "operator" | "value">, actual: unknown): boolean {
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

/** The delay between the event and the firing, in milliseconds. */
export function delayOf({ behavior, delaySeconds = DEFAULT_DELAY_SECONDS }: RuleTrigger): number {
  return behavior === "delayed" ? delaySeconds * 1000 : 0;
}

/** The delay of a delayed rule without `delaySeconds`. */
export const DEFAULT_DELAY_SECONDS = 5;

/** Why a rule can't be executed; its message goes into the rule's log. */
export class RuleError extends Error {}

/** The value of a binding for this event; throws if the event has no value at its path. */
export function resolveBinding<Value>(binding: Binding<Value>, event: unknown): unknown {
  if (binding.type === "static") return binding.value;
  const value = readFact(event, binding.value);
  if (value === undefined || value === null) throw new RuleError(`The event has no value at ${binding.value}`);
  return value;
}
