/** Keywords that contain one schema, a map of schemas, or a list of schemas. */
export const ONE = [
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

export const MAP = ["properties", "$defs", "definitions", "dependentSchemas", "dependencies"];

export const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];

/** Where schemas are stored for references to them. */
export const DEFINITIONS = new Set(["$defs", "definitions"]);

export type Schema = Record<string, unknown>;

/** All direct subschemas of a schema, and the one it references; definitions count where they are referenced. */
export function childSchemas(schema: Schema, root: Schema): unknown[] {
  return Object.entries(schema).flatMap(([name, value]) => {
    if (name === "$ref") return [resolve(root, value)];
    if (ONE.includes(name)) return [value];
    if (MAP.includes(name)) return isSchema(value) && !DEFINITIONS.has(name) ? Object.values(value) : [];
    if (name !== "items" && !LIST.includes(name)) return [];
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return list;
  });
}

/** The target of a reference; undefined outside the schema, because nothing is fetched. */
export function resolve(root: Schema, reference: unknown): unknown {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  let place: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const name = decoded(part)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (name === undefined) return undefined;
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, name)) return undefined;
    place = Reflect.get(place, name);
  }
  return place;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
