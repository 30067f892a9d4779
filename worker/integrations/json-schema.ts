import type { OutputUnit, Schema, SchemaDraft } from "@cfworker/json-schema";
import type { Issue } from "#worker/lib/errors.ts";
import { plainSchema } from "#worker/lib/json-schema/plain-schema.ts";
import { metered, OutOfSteps, StepBudget } from "#worker/lib/json-schema/steps.ts";
import { clip } from "#worker/lib/well-formed.ts";

// Validates events against their provider's schema with a library that interprets schemas, because Workers can't compile code.

/** Keywords whose error only says that a nested one failed. */
const OUTER = new Set([
  "properties",
  "additionalItems",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalProperties",
  "items",
  "prefixItems",
  "$ref",
  "allOf",
  "dependentSchemas",
  "if",
]);

/** The budget for validating one event: about 40 ms. */
export const EVENT_STEPS = 500_000;
/** Levels of nested objects and arrays: the validator recurses into all of them. */
const MAX_LEVELS = 32;
/** In characters. */
const MAX_NAME_LENGTH = 256;
const MAX_ISSUES = 100;

/** The problems of an instance, by dotted path; empty if it is valid. The schema must have no `schemaProblems`. */
export async function instanceProblems(
  schema: Record<string, unknown>,
  instance: unknown,
  budget = new StepBudget(EVENT_STEPS),
): Promise<Issue[]> {
  const { issue, longest } = measure(instance);
  if (issue) return [issue];
  const plain = plainSchema(schema, budget, longest);
  if (!isSchema(plain)) return [];
  // Loaded only by deployments that receive events.
  const { Validator } = await import("@cfworker/json-schema");
  const errors = errorsOf(() => new Validator(plain, draftOf(schema.$schema), false).validate(metered(instance, budget)).errors);
  const inner = errors.filter(({ keyword }) => !OUTER.has(keyword));
  return (inner.length > 0 ? inner : errors).slice(0, MAX_ISSUES).map(({ keyword, instanceLocation, error }) => ({
    path: pathOf(instanceLocation, keyword === "required" ? /"(.*)"/.exec(error)?.[1] : undefined),
    message: keyword === "false" ? "Unknown field" : error,
  }));
}

/** The length of the longest text in a value, and why the value can't be validated, if so. */
function measure(instance: unknown): { issue?: Issue; longest: number } {
  let longest = 0;
  let level = [instance];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) return { issue: { path: "", message: `At most ${MAX_LEVELS} levels deep` }, longest };
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === "string") longest = Math.max(longest, value.length);
      if (typeof value !== "object" || value === null) continue;
      for (const [name, inner] of Object.entries<unknown>({ ...value })) {
        if (name.length > MAX_NAME_LENGTH)
          return { issue: { path: clip(name, 40), message: `A name has at most ${MAX_NAME_LENGTH} characters` }, longest };
        next.push(inner);
      }
    }
    level = next;
  }
  return { longest };
}

/** Turns an exceeded budget or names that aren't valid Unicode into an error of the event. */
function errorsOf(validate: () => OutputUnit[]): OutputUnit[] {
  try {
    return validate();
  } catch (cause) {
    const error =
      cause instanceof OutOfSteps || cause instanceof RangeError
        ? "Validating this against its schema takes too many steps; send less or simplify the schema"
        : cause instanceof URIError
          ? "A field name isn't valid Unicode"
          : undefined;
    if (error === undefined) throw cause;
    return [{ keyword: "$ref", keywordLocation: "#", instanceLocation: "#", error }];
  }
}

function isSchema(schema: Record<string, unknown>): schema is Schema {
  return schema.type === "object";
}

function draftOf(uri: unknown): SchemaDraft {
  const name = typeof uri === "string" ? uri : "";
  if (name.includes("draft-04")) return "4";
  if (name.includes("draft-06") || name.includes("draft-07")) return "7";
  return name.includes("2019-09") ? "2019-09" : "2020-12";
}

/** `#/match/score` as `match.score`. */
function pathOf(pointer: string, missing: string | undefined): string {
  const parts = pointer
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  return [...parts, ...(missing === undefined ? [] : [missing])].join(".");
}
