import { KEPT } from "./json-schema.ts";
import { DEFINITIONS, isSchema, LIST, MAP, ONE, resolve, type Schema } from "./schema.ts";
import type { StepBudget } from "./steps.ts";

/** Formats that the validator checks in linear time; others are ignored. Its `url` check takes seconds for thirty letters. */
const FORMATS = new Set(["date", "time", "date-time", "duration", "uri", "uri-reference", "email", "hostname", "ipv4", "ipv6", "uuid"]);
/** Keywords that read each character of a text. */
const READS_TEXT = ["format", "minLength", "maxLength"];
const CHARACTERS_PER_STEP = 64;
/** Steps that each visit by the validator costs before any keyword. */
const VISIT = 20;

/**
 * The schema for the validator: a copy of the keywords it checks, because it would treat names in annotations as keywords. Targets of
 * references are numbered in `$defs`. Each visit by the validator spends its cost from the budget; `longest` is the length of the longest
 * text in the instance. The schema must have no `schemaProblems`.
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
  // The map grows during iteration: copies find further references.
  const $defs: Schema = {};
  for (const [target, number] of targets) $defs[number] = copy(target);
  return spend({ ...plain, $defs });
}

function isChecked(name: string, value: unknown): boolean {
  return name !== "format" || FORMATS.has(String(value));
}

/** Counts visits with an unused keyword, because the validator reads each keyword once per visit. */
function spendingVisits(schema: Schema, budget: StepBudget, longest: number): Schema {
  const text = READS_TEXT.some((name) => name in schema) ? longest / CHARACTERS_PER_STEP : 0;
  const steps = VISIT + Math.ceil(text) + Object.entries(schema).reduce((sum, [name, value]) => sum + ownSteps(name, value), 0);
  Object.defineProperty(schema, "$recursiveAnchor", { enumerable: false, get: () => void budget.spend(steps) });
  return schema;
}

/** The cost of a keyword itself, without the visits to its subschemas. */
function ownSteps(name: string, value: unknown): number {
  if (DEFINITIONS.has(name) || ONE.includes(name)) return 0;
  if (Array.isArray(value) && (name === "items" || LIST.includes(name))) return value.length;
  if (isSchema(value) && MAP.includes(name)) return Object.keys(value).length;
  return name === "enum" || name === "const" || name.endsWith("equired") ? Math.ceil(JSON.stringify(value).length / 16) : 1;
}
