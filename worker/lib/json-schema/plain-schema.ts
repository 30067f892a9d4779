import { KEPT } from "./json-schema.ts";
import { DEFINITIONS, isSchema, LIST, MAP, ONE, resolve, type Schema } from "./schema.ts";
import type { StepBudget } from "./steps.ts";

/** Formats that the validator checks in linear time; any other is an annotation. Its `url` takes seconds for thirty letters. */
const FORMATS = new Set(["date", "time", "date-time", "duration", "uri", "uri-reference", "email", "hostname", "ipv4", "ipv6", "uuid"]);
/** Keywords that look at each character of a text. */
const READS_TEXT = ["format", "minLength", "maxLength"];
const CHARACTERS_PER_STEP = 64;
/** Steps that a visit of the validator costs before it looks at anything. */
const VISIT = 20;

/**
 * A schema as the validator gets it: a copy of what it checks and nothing else, since it takes names in annotations for keywords. What
 * references lead to is in `$defs` by number, wherever it was. Each visit of the validator spends its cost from the budget; `longest` is
 * the number of characters of the longest text in the instance. The schema is one without `schemaProblems`.
 */
export function plainSchema(root: Schema, budget: StepBudget, longest: number): Schema {
  const targets = new Map<unknown, number>();
  const placeOf = (target: unknown): string => {
    if (target === root) return "#";
    const number = targets.get(target) ?? targets.size;
    targets.set(target, number);
    return `#/$defs/${number}`;
  };
  const spend = (plain: Schema): Schema => spendingVisits(plain, budget, longest);

  function copy(value: unknown): unknown {
    return isSchema(value) ? spend(copySchema(value)) : Array.isArray(value) ? value.map(copy) : value;
  }

  function copySchema(schema: Schema): Schema {
    const kept = Object.entries(schema).filter(([name, value]) => !DEFINITIONS.has(name) && isChecked(name, value));
    return Object.fromEntries(kept.flatMap(([name, value]) => copyKeyword(name, value)));
  }

  function copyKeyword(name: string, value: unknown): [string, unknown][] {
    if (name === "$ref") return [[name, placeOf(resolve(root, value))]];
    if (name === "items" || ONE.includes(name) || LIST.includes(name)) return [[name, copy(value)]];
    if (isSchema(value) && MAP.includes(name))
      return [[name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))]];
    return KEPT.has(name) ? [[name, value]] : [];
  }

  const plain = copySchema(root);
  // The map grows while it is walked: copies find further references.
  const $defs: Schema = {};
  for (const [target, number] of targets) $defs[number] = copy(target);
  return spend({ ...plain, $defs });
}

function isChecked(name: string, value: unknown): boolean {
  return name !== "format" || FORMATS.has(String(value));
}

/** The validator reads each keyword once per visit, so that one which isn't used counts the visits. */
function spendingVisits(schema: Schema, budget: StepBudget, longest: number): Schema {
  const text = READS_TEXT.some((name) => name in schema) ? longest / CHARACTERS_PER_STEP : 0;
  const steps = VISIT + Math.ceil(text) + Object.entries(schema).reduce((sum, [name, value]) => sum + ownSteps(name, value), 0);
  Object.defineProperty(schema, "$recursiveAnchor", { enumerable: false, get: () => void budget.spend(steps) });
  return schema;
}

/** What a keyword costs by itself; schemas inside are visited, or aren't. */
function ownSteps(name: string, value: unknown): number {
  if (DEFINITIONS.has(name) || ONE.includes(name)) return 0;
  if (Array.isArray(value) && (name === "items" || LIST.includes(name))) return value.length;
  if (isSchema(value) && MAP.includes(name)) return Object.keys(value).length;
  return name === "enum" || name === "const" || name.endsWith("equired") ? Math.ceil(JSON.stringify(value).length / 16) : 1;
}
