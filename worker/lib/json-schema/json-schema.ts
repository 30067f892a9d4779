import type { FactTypes } from "#db/types.ts";
import type { Issue } from "#worker/lib/errors.ts";
import { expandsTooFar, MAX_EXPANDED } from "./schema-size.ts";
import { isSchema, LIST, MAP, ONE, resolve, type Schema } from "./schema.ts";

// Provider schemas: whether they are valid and cheap enough to validate with, and which facts they describe.

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const MAX_DEPTH = 20;
const MAX_FACTS = 500;
/** In characters. */
const MAX_FACT_LENGTH = 500;
/** How many nested schemas may apply to one value. */
const MAX_CHAIN = 32;

/** Keywords whose schemas apply to the same value as their parent, like references and dependent schemas. */
const SAME_VALUE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/** Keywords that can't be checked in bounded time, and what to use instead: V8 backtracks in regular expressions. */
const UNSUPPORTED: Record<string, string> = {
  pattern: "enum, format, minLength and maxLength",
  patternProperties: "properties, additionalProperties and propertyNames",
  $dynamicRef: "$ref",
  $recursiveRef: "$ref",
};

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: unknown): boolean => typeof value === "number";
const isText = (value: unknown): boolean => typeof value === "string";
const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isType = (value: unknown): boolean => typeof value === "string" && TYPES.has(value);

/** The expected values of the other keywords. */
const EXPECTED: Record<string, { check: (value: unknown) => boolean; what: string }> = {
  type: {
    check: (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
    what: "A type of JSON Schema",
  },
  enum: { check: (value) => Array.isArray(value) && value.length > 0, what: "A list of values" },
  required: { check: isTexts, what: "A list of property names" },
  // The validator looks formats up by name in an object, which also finds inherited properties.
  format: { check: (value) => isText(value) && !(String(value) in {}), what: "A format" },
  dependentRequired: { check: (value) => isSchema(value) && Object.values(value).every(isTexts), what: "Lists of property names" },
  $ref: { check: isText, what: "A reference within the schema" },
  multipleOf: { check: (value) => isNumber(value) && Number(value) > 0, what: "A number above 0" },
  ...Object.fromEntries(
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((name) => [name, { check: isNumber, what: "A number" }]),
  ),
  ...Object.fromEntries(
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"].map((name) => [
      name,
      { check: isCount, what: "A whole number, at least 0" },
    ]),
  ),
  uniqueItems: { check: isBoolean, what: "true or false" },
};

/** Keywords without subschemas that the validator uses. */
export const KEPT = new Set([...Object.keys(EXPECTED), "const"]);

/** The problems of an event schema, by dotted path; empty if it can be used. Events are objects, so the root must be one. */
export function schemaProblems(schema: Schema): Issue[] {
  if (schema.type !== "object") return [{ path: "type", message: 'Must be "object": an event is a JSON object' }];
  const issues: Issue[] = [];
  const walk: Walk = { root: schema, seen: new Map(), references: [] };
  check(schema, [], walk, issues);
  // References may point outside any known keyword; the list grows with the references found there.
  for (const reference of walk.references) check(resolve(schema, reference), reference.split("/").slice(1), walk, issues);
  if (issues.length > 0) return issues;
  issues.push(...chainProblems(walk));
  if (issues.length > 0 || !expandsTooFar(schema)) return issues;
  return [{ path: "$ref", message: `Has more than ${MAX_EXPANDED} subschemas once references are expanded` }];
}

/** The facts of a schema without problems: the dotted paths of its leaves, with their types. */
export function factsOf(schema: Schema): FactTypes {
  const facts = new Map<string, FactTypes[string]>();
  collect(schema, [], schema, facts);
  return Object.fromEntries(facts);
}

/** State of a check: the schemas visited so far, with their paths, and the references found. */
interface Walk {
  root: Schema;
  seen: Map<unknown, string[]>;
  references: string[];
}

function check(schema: unknown, path: string[], walk: Walk, issues: Issue[]): void {
  if (typeof schema === "boolean" || walk.seen.has(schema)) return;
  const problem = (name: string, message: string) =>
    issues.push({ path: [...path, name].filter((part) => part !== "").join("."), message });
  if (!isSchema(schema)) return void problem("", "Must be a schema: an object, true or false");
  if (path.length > MAX_DEPTH * 2) return void problem("", `At most ${MAX_DEPTH} levels deep`);
  walk.seen.set(schema, path);
  for (const [name, value] of Object.entries(schema)) {
    const expected = Object.hasOwn(EXPECTED, name) ? EXPECTED[name] : undefined;
    if (expected && !expected.check(value)) problem(name, `Must be: ${expected.what}`);
    else if (name === "$ref") checkReference(value, [...path, name], walk, issues);
    else if (Object.hasOwn(UNSUPPORTED, name)) problem(name, `Not supported; use ${UNSUPPORTED[name]}`);
    else if (ONE.includes(name)) check(value, [...path, name], walk, issues);
    else if (MAP.includes(name)) checkMap(value, [...path, name], walk, issues);
    else if (LIST.includes(name)) checkList(value, [...path, name], walk, issues);
    else if (name === "items") (Array.isArray(value) ? checkList : check)(value, [...path, name], walk, issues);
  }
}

function checkReference(reference: unknown, path: string[], walk: Walk, issues: Issue[]): void {
  if (typeof reference === "string" && resolve(walk.root, reference) !== undefined) walk.references.push(reference);
  else issues.push({ path: path.join("."), message: "Must point to a place within the schema, like #/$defs/team" });
}

function checkMap(map: unknown, path: string[], walk: Walk, issues: Issue[]): void {
  if (!isSchema(map)) return void issues.push({ path: path.join("."), message: "Must be an object whose values are schemas" });
  for (const [name, schema] of Object.entries(map)) {
    // Before draft 2019-09, dependencies could also be lists of names.
    if (path.at(-1) !== "dependencies" || !isTexts(schema)) check(schema, [...path, name], walk, issues);
  }
}

function checkList(list: unknown, path: string[], walk: Walk, issues: Issue[]): void {
  if (!Array.isArray(list)) return void issues.push({ path: path.join("."), message: "Must be a list of schemas" });
  for (const [index, schema] of list.entries()) check(schema, [...path, String(index)], walk, issues);
}

/**
 * Finds schemas that reference themselves for the same value, which would never end, and chains that are too long: the validator is
 * inside all schemas of a chain at once and passes each error through all of them.
 */
function chainProblems({ root, seen }: Walk): Issue[] {
  const issues: Issue[] = [];
  const open = new Set<unknown>();
  const lengths = new Map<unknown, number>();
  const problem = (schema: Schema, message: string) => issues.push({ path: [...(seen.get(schema) ?? []), "$ref"].join("."), message });
  const lengthOf = (schema: Schema): number => {
    const known = lengths.get(schema);
    if (known !== undefined) return known;
    open.add(schema);
    let length = 1;
    for (const next of ofSameValue(schema, root).filter(isSchema)) {
      if (open.has(next)) problem(schema, "References itself for the same value");
      else length = Math.max(length, 1 + lengthOf(next));
    }
    open.delete(schema);
    lengths.set(schema, length);
    if (length === MAX_CHAIN + 1) problem(schema, `At most ${MAX_CHAIN} nested schemas may apply to one value`);
    return length;
  };
  for (const schema of seen.keys()) if (isSchema(schema)) lengthOf(schema);
  return issues;
}

function ofSameValue(schema: Schema, root: Schema): unknown[] {
  const reference = schema.$ref === undefined ? [] : resolve(root, schema.$ref);
  const dependent = [schema.dependentSchemas, schema.dependencies].filter(isSchema).map((map) => Object.values(map));
  return [reference, dependent, ...SAME_VALUE.map((name) => schema[name])].flat(2);
}

function collect(schema: unknown, path: string[], root: Schema, facts: Map<string, FactTypes[string]>, followed: unknown[] = []): void {
  if (!isSchema(schema) || path.length > MAX_DEPTH || followed.includes(schema)) return;
  const seen = [...followed, schema];
  const parts = [schema.$ref === undefined ? [] : [resolve(root, schema.$ref)], ...["allOf", "anyOf", "oneOf"].map((name) => schema[name])];
  for (const part of parts.flat()) collect(part, path, root, facts, seen);
  if (isSchema(schema.properties)) {
    for (const [name, inner] of Object.entries(schema.properties)) {
      // A dot in a name would be ambiguous in a path.
      if (!name.includes(".")) collect(inner, [...path, name], root, facts, seen);
    }
  } else if (path.length > 0 && facts.size < MAX_FACTS && !parts.flat().some(isSchema)) {
    const fact = path.join(".");
    if (fact.length <= MAX_FACT_LENGTH) facts.set(fact, factType(schema));
  }
}

function factType({ type, const: constant, enum: values }: Schema): FactTypes[string] {
  const types = asList(type ?? typeOfAll(constant === undefined ? values : [constant])).filter((one) => one !== "null");
  const [only] = types.length === 1 ? types : [];
  if (only === "integer" || only === "number") return "number";
  return only === "string" || only === "boolean" || only === "array" ? only : "any";
}

/** The common type of all values; undefined if they differ. */
function typeOfAll(values: unknown): string | undefined {
  const types = new Set(asList(values).map((value) => typeof value));
  return types.size === 1 ? [...types][0] : undefined;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}
