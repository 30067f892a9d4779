import type { FactTypes } from "#db/types.ts";
import type { Issue } from "#worker/lib/errors.ts";
import { expandsTooFar, MAX_EXPANDED } from "./schema-size.ts";
import { isSchema, LIST, MAP, ONE, resolve, type Schema } from "./schema.ts";

// JSON Schema as providers write it: whether it is valid and cheap enough to validate with, and which facts it describes.

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const MAX_DEPTH = 20;
const MAX_FACTS = 500;
/** In characters. */
const LONGEST_FACT = 500;
/** Schemas that apply to one value, each inside the one before. */
const MAX_CHAIN = 32;

/** Those whose schemas speak of the same value as the one that they stand in; so do references and what depends on properties. */
const SAME = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/** What can't be checked in bounded time, and what to use instead: V8 tries every way in which a regular expression can match. */
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

/** What the other keywords must hold. */
const HOLDS: Record<string, { check: (value: unknown) => boolean; what: string }> = {
  type: {
    check: (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
    what: "A type of JSON Schema",
  },
  enum: { check: (value) => Array.isArray(value) && value.length > 0, what: "A list of values" },
  required: { check: isTexts, what: "A list of property names" },
  // The validator looks formats up by name in an object, which also has what all objects have.
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

/** Keywords without schemas that a validator goes by. */
export const KEPT = new Set([...Object.keys(HOLDS), "const"]);

/** What is wrong with a schema of events, by dotted path; empty for one that can be used. Events are objects, and so is the root. */
export function schemaProblems(schema: Schema): Issue[] {
  if (schema.type !== "object") return [{ path: "type", message: 'Must be "object": an event is a JSON object' }];
  const issues: Issue[] = [];
  const look: Look = { root: schema, seen: new Map(), references: [] };
  check(schema, [], look, issues);
  // They may lead to what no keyword of a schema holds; the list grows with what is found there.
  for (const reference of look.references) check(resolve(schema, reference), reference.split("/").slice(1), look, issues);
  if (issues.length > 0) return issues;
  issues.push(...chainProblems(look));
  if (issues.length > 0 || !expandsTooFar(schema)) return issues;
  return [{ path: "$ref", message: `Has more than ${MAX_EXPANDED} subschemas once references are replaced by what they lead to` }];
}

/** The facts of a schema without problems: the dotted paths of its leaves, with their types. */
export function factsOf(schema: Schema): FactTypes {
  const facts = new Map<string, FactTypes[string]>();
  collect(schema, [], schema, facts);
  return Object.fromEntries(facts);
}

/** What is being looked at: the schemas in it that were, with their paths, and the references that were met. */
interface Look {
  root: Schema;
  seen: Map<unknown, string[]>;
  references: string[];
}

function check(schema: unknown, path: string[], look: Look, issues: Issue[]): void {
  if (typeof schema === "boolean" || look.seen.has(schema)) return;
  const problem = (name: string, message: string) =>
    issues.push({ path: [...path, name].filter((part) => part !== "").join("."), message });
  if (!isSchema(schema)) return void problem("", "Must be a schema: an object, true or false");
  if (path.length > MAX_DEPTH * 2) return void problem("", `At most ${MAX_DEPTH} levels deep`);
  look.seen.set(schema, path);
  for (const [name, value] of Object.entries(schema)) {
    const holds = Object.hasOwn(HOLDS, name) ? HOLDS[name] : undefined;
    if (holds && !holds.check(value)) problem(name, `Must be: ${holds.what}`);
    else if (name === "$ref") checkReference(value, [...path, name], look, issues);
    else if (Object.hasOwn(UNSUPPORTED, name)) problem(name, `Not supported; use ${UNSUPPORTED[name]}`);
    else if (ONE.includes(name)) check(value, [...path, name], look, issues);
    else if (MAP.includes(name)) checkMap(value, [...path, name], look, issues);
    else if (LIST.includes(name)) checkList(value, [...path, name], look, issues);
    else if (name === "items") (Array.isArray(value) ? checkList : check)(value, [...path, name], look, issues);
  }
}

function checkReference(reference: unknown, path: string[], look: Look, issues: Issue[]): void {
  if (typeof reference === "string" && resolve(look.root, reference) !== undefined) look.references.push(reference);
  else issues.push({ path: path.join("."), message: "Must lead to a place within the schema, like #/$defs/team" });
}

function checkMap(map: unknown, path: string[], look: Look, issues: Issue[]): void {
  if (!isSchema(map)) return void issues.push({ path: path.join("."), message: "Must be an object whose values are schemas" });
  for (const [name, schema] of Object.entries(map)) {
    // Before 2019, a list of names could stand where a schema can.
    if (path.at(-1) !== "dependencies" || !isTexts(schema)) check(schema, [...path, name], look, issues);
  }
}

function checkList(list: unknown, path: string[], look: Look, issues: Issue[]): void {
  if (!Array.isArray(list)) return void issues.push({ path: path.join("."), message: "Must be a list of schemas" });
  for (const [index, schema] of list.entries()) check(schema, [...path, String(index)], look, issues);
}

/**
 * Schemas that lead back to themselves while they describe the same value, which would never end; and those that do so for too long:
 * a validator is inside all of them at once and hands each error on through all of them.
 */
function chainProblems({ root, seen }: Look): Issue[] {
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
      if (open.has(next)) problem(schema, "Leads back to itself, and no further into the event");
      else length = Math.max(length, 1 + lengthOf(next));
    }
    open.delete(schema);
    lengths.set(schema, length);
    if (length === MAX_CHAIN + 1) problem(schema, `At most ${MAX_CHAIN} schemas may apply to one value, each inside the one before`);
    return length;
  };
  for (const schema of seen.keys()) if (isSchema(schema)) lengthOf(schema);
  return issues;
}

function ofSameValue(schema: Schema, root: Schema): unknown[] {
  const reference = schema.$ref === undefined ? [] : resolve(root, schema.$ref);
  const dependent = [schema.dependentSchemas, schema.dependencies].filter(isSchema).map((map) => Object.values(map));
  return [reference, dependent, ...SAME.map((name) => schema[name])].flat(2);
}

function collect(schema: unknown, path: string[], root: Schema, facts: Map<string, FactTypes[string]>, followed: unknown[] = []): void {
  if (!isSchema(schema) || path.length > MAX_DEPTH || followed.includes(schema)) return;
  const seen = [...followed, schema];
  const parts = [schema.$ref === undefined ? [] : [resolve(root, schema.$ref)], ...["allOf", "anyOf", "oneOf"].map((name) => schema[name])];
  for (const part of parts.flat()) collect(part, path, root, facts, seen);
  if (isSchema(schema.properties)) {
    for (const [name, inner] of Object.entries(schema.properties)) {
      // A dot in a name can't be told from one between names.
      if (!name.includes(".")) collect(inner, [...path, name], root, facts, seen);
    }
  } else if (path.length > 0 && facts.size < MAX_FACTS && !parts.flat().some(isSchema)) {
    const fact = path.join(".");
    if (fact.length <= LONGEST_FACT) facts.set(fact, factType(schema));
  }
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
