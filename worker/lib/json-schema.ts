import type { FactTypes } from "../../db/types.ts";
import type { Issue } from "./errors.ts";

// JSON Schema as providers write it: whether it is one, and which facts it speaks of. No platform import, no validation of instances.

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const MAX_DEPTH = 20;
const MAX_FACTS = 500;

/** Keywords that hold one schema, a map of them, a list of them. */
const ONE = [
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalItems",
];
const MAP = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: unknown): boolean => typeof value === "number";
const isText = (value: unknown): boolean => typeof value === "string";
const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isType = (value: unknown): boolean => typeof value === "string" && TYPES.has(value);

/** What the other keywords must hold. */
const HOLDS: Record<string, { check: (value: unknown) => boolean; what: string }> = {
  type: {
    check: (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
    what: "A type of JSON Schema",
  },
  enum: { check: (value) => Array.isArray(value) && value.length > 0, what: "A list of values" },
  required: { check: isTexts, what: "A list of property names" },
  pattern: { check: isPattern, what: "A regular expression" },
  format: { check: isText, what: "A text" },
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

type Schema = Record<string, unknown>;

/** What is wrong with a schema of events, by dotted path; empty for one that can be used. Events are objects, and so is the root. */
export function schemaProblems(schema: Schema): Issue[] {
  if (schema.type !== "object") return [{ path: "type", message: 'Must be "object": an event is a JSON object' }];
  const issues: Issue[] = [];
  check(schema, [], schema, issues);
  return issues;
}

/** The facts of a schema: the dotted paths of its leaves, with their types. */
export function factsOf(schema: Schema): FactTypes {
  const facts: FactTypes = {};
  collect(schema, [], schema, facts);
  return facts;
}

function check(schema: unknown, path: string[], root: Schema, issues: Issue[]): void {
  if (typeof schema === "boolean") return;
  const problem = (name: string, message: string) =>
    issues.push({ path: [...path, name].filter((part) => part !== "").join("."), message });
  if (!isSchema(schema)) return void problem("", "Must be a schema: an object, true or false");
  if (path.length > MAX_DEPTH * 2) return void problem("", `At most ${MAX_DEPTH} levels deep`);
  for (const [name, value] of Object.entries(schema)) {
    const holds = Object.hasOwn(HOLDS, name) ? HOLDS[name] : undefined;
    if (holds && !holds.check(value)) problem(name, `Must be: ${holds.what}`);
    else if (name === "$ref" && resolve(root, value) === undefined)
      problem(name, "Must lead to a place within the schema, like #/$defs/team");
    else if (ONE.includes(name)) check(value, [...path, name], root, issues);
    else if (MAP.includes(name)) checkMap(value, [...path, name], root, issues);
    else if (LIST.includes(name)) checkList(value, [...path, name], root, issues);
    else if (name === "items") (Array.isArray(value) ? checkList : check)(value, [...path, name], root, issues);
  }
}

function checkMap(map: unknown, path: string[], root: Schema, issues: Issue[]): void {
  if (!isSchema(map)) return void issues.push({ path: path.join("."), message: "Must be an object whose values are schemas" });
  for (const [name, schema] of Object.entries(map)) {
    if (path.at(-1) === "patternProperties" && !isPattern(name))
      issues.push({ path: [...path, name].join("."), message: "Must be: A regular expression" });
    check(schema, [...path, name], root, issues);
  }
}

function checkList(list: unknown, path: string[], root: Schema, issues: Issue[]): void {
  if (!Array.isArray(list)) return void issues.push({ path: path.join("."), message: "Must be a list of schemas" });
  for (const [index, schema] of list.entries()) check(schema, [...path, String(index)], root, issues);
}

function collect(schema: unknown, path: string[], root: Schema, facts: FactTypes, followed: unknown[] = []): void {
  if (!isSchema(schema) || path.length > MAX_DEPTH || followed.includes(schema)) return;
  const seen = [...followed, schema];
  const parts = [schema.$ref === undefined ? [] : [resolve(root, schema.$ref)], ...["allOf", "anyOf", "oneOf"].map((name) => schema[name])];
  for (const part of parts.flat()) collect(part, path, root, facts, seen);
  if (isSchema(schema.properties)) {
    for (const [name, inner] of Object.entries(schema.properties)) {
      // A dot in a name can't be told from one between names.
      if (!name.includes(".")) collect(inner, [...path, name], root, facts, seen);
    }
  } else if (path.length > 0 && Object.keys(facts).length < MAX_FACTS && !parts.flat().some(isSchema))
    facts[path.join(".")] = factType(schema);
}

function factType({ type, const: constant, enum: values }: Schema): FactTypes[string] {
  const named = asList(type ?? typeOfAll(constant === undefined ? values : [constant])).filter((one) => one !== "null");
  const [only] = named.length === 1 ? named : [];
  if (only === "integer" || only === "number") return "number";
  return only === "string" || only === "boolean" || only === "array" ? only : "any";
}

/** The type that all values have; undefined where they differ. */
function typeOfAll(values: unknown): string | undefined {
  const types = new Set(asList(values).map((value) => typeof value));
  return types.size === 1 ? [...types][0] : undefined;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Where a reference leads; undefined outside the schema, since nothing is fetched. */
function resolve(root: Schema, reference: unknown): unknown {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  let place: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, name)) return undefined;
    place = Reflect.get(place, name);
  }
  return place;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
