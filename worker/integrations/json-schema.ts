import type { OutputUnit, Schema, SchemaDraft } from "@cfworker/json-schema";
import type { Issue } from "../lib/errors.ts";
import { LONGEST_TEXT } from "../lib/pattern.ts";
import { plainSchema } from "../lib/plain-schema.ts";

// The library that holds events against their provider's schema: it interprets the schema, since Workers can't compile code.

/** Keywords whose error says no more than that one further inside has failed. */
const OUTER = new Set([
  "properties",
  "additionalItems",
  "unevaluatedProperties",
  "unevaluatedItems",
  "patternProperties",
  "additionalProperties",
  "items",
  "prefixItems",
  "$ref",
  "allOf",
  "dependentSchemas",
  "if",
]);

/** What doesn't fit, by dotted path; empty where all does. The schema is one that `schemaProblems` found nothing wrong with. */
export async function instanceProblems(schema: Record<string, unknown>, instance: unknown): Promise<Issue[]> {
  const plain = plainSchema(schema);
  if (!isSchema(plain)) return [];
  const long = longName(instance);
  if (long !== undefined) return [{ path: long, message: `A name has at most ${LONGEST_TEXT} characters` }];
  // Only deployments that take events pay for loading it.
  const { Validator } = await import("@cfworker/json-schema");
  const errors = errorsOf(() => new Validator(plain, draftOf(schema.$schema), false).validate(instance).errors);
  const inner = errors.filter(({ keyword }) => !OUTER.has(keyword));
  return (inner.length > 0 ? inner : errors).map(({ keyword, instanceLocation, error }) => ({
    path: pathOf(instanceLocation, keyword === "required" ? /"(.*)"/.exec(error)?.[1] : undefined),
    message: keyword === "false" ? "The schema has no such field" : error,
  }));
}

/** The first characters of a name that is too long to be held against patterns of names. */
function longName(instance: unknown): string | undefined {
  const values: unknown[] = [instance];
  for (const value of values) {
    if (typeof value !== "object" || value === null) continue;
    for (const [name, inner] of Object.entries<unknown>({ ...value })) {
      if (name.length > LONGEST_TEXT) return name.slice(0, 40);
      values.push(inner);
    }
  }
  return undefined;
}

/** An event may be nested deeper than the validator can follow, or have names that are no text in Unicode: that fits no schema. */
function errorsOf(validate: () => OutputUnit[]): OutputUnit[] {
  try {
    return validate();
  } catch (cause) {
    const error =
      cause instanceof RangeError ? "Nested too deep" : cause instanceof URIError ? "A name in it is no valid Unicode" : undefined;
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
