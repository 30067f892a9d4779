import type { Schema, SchemaDraft } from "@cfworker/json-schema";
import type { Issue } from "../lib/errors.ts";

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
]);

/** What doesn't fit, by dotted path; empty where all does. The schema is one that `schemaProblems` found nothing wrong with. */
export async function instanceProblems(schema: Record<string, unknown>, instance: unknown): Promise<Issue[]> {
  if (!isSchema(schema)) return [];
  // Only deployments that take events pay for loading it.
  const { Validator } = await import("@cfworker/json-schema");
  const { errors } = new Validator(schema, draftOf(schema.$schema), false).validate(instance);
  const inner = errors.filter(({ keyword }) => !OUTER.has(keyword));
  return (inner.length > 0 ? inner : errors).map(({ keyword, instanceLocation, error }) => ({
    path: pathOf(instanceLocation, keyword === "required" ? /"(.*)"/.exec(error)?.[1] : undefined),
    message: keyword === "false" ? "The schema has no such field" : error,
  }));
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
