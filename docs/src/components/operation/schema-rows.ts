import { exampleOf, resolve, nameOf, type Schema } from "./document.ts";

/** One field in a list of fields. */
export interface Row {
  /** Its own name; "[]" stands for each item of a list, "{}" for each value of a map. */
  name: string;
  /** Dotted path from the root, which distinguishes rows with the same name. */
  path: string;
  depth: number;
  type: string;
  required: boolean;
  description: string;
  /** Constraints on the value, as text. */
  constraints: string[];
}

const DEPTH = 4;
/** Keywords that a schema for null can have. */
const NOTES = new Set(["nullable", "description"]);

/** The fields of an object or a list, each followed by its children. A recursive type is named and not expanded again. */
export function rowsOf(schema: Schema): Row[] {
  return below(schema, "", 0, []);
}

/** A readable type: "string", "list of Poll", "Poll or null". */
export function typeOf(from: Schema): string {
  const schema = resolve(from);
  if (schema.nullable && Object.keys(schema).every((key) => NOTES.has(key))) return "null";
  return `${plainType(from, schema)}${schema.nullable ? " or null" : ""}`;
}

/** A field's note in one line: its meaning, then its constraints. */
export function noteOf(description: string, constraints: string[]): string {
  return [description.replace(/\.$/, ""), constraints.join("; ")].filter((text) => text !== "").join(" · ");
}

/** The constraints of a schema. */
export function constraintsOf(from: Schema): string[] {
  const schema = resolve(from);
  return [
    schema.enum?.length === 1 ? `always \`${String(schema.enum[0])}\`` : undefined,
    schema.enum && schema.enum.length > 1 ? `one of ${schema.enum.map((value) => `\`${String(value)}\``).join(", ")}` : undefined,
    range(schema.minLength, schema.maxLength, "character"),
    range(schema.minItems, schema.maxItems, schema.type === "array" ? "entry" : ""),
    range(schema.minimum, schema.maximum, ""),
    schema.pattern === undefined ? undefined : patternInWords(schema.pattern),
    schema.format === undefined ? undefined : `format ${schema.format}`,
    schema.default === undefined ? undefined : `default \`${JSON.stringify(schema.default)}\``,
  ].filter((text) => text !== undefined);
}

function plainType(from: Schema, schema: Schema): string {
  if (schema.type === "array") return `list of ${schema.items ? typeOf(schema.items) : "values"}`;
  if (schema.oneOf ?? schema.anyOf) return nameOf(from) ?? alternatives(schema);
  if (schema.type === "object" || schema.allOf) return nameOf(from) ?? "object";
  return schema.type ?? "any JSON";
}

function alternatives(schema: Schema): string {
  return [...new Set((schema.oneOf ?? schema.anyOf ?? []).map(typeOf))].join(" or ");
}

function below(from: Schema, path: string, depth: number, within: Schema[]): Row[] {
  const schema = resolve(from);
  if (depth > DEPTH || within.includes(schema)) return [];
  const inside = [...within, schema];
  if (schema.type === "array" && schema.items) return below(schema.items, `${path}[]`, depth, inside);
  const variants = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  if (variants.length > 0) return rowsOfVariants(variants, path, depth, inside);
  const parts = schema.allOf?.flatMap((part) => below(part, path, depth, inside)) ?? [];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const row = rowOf(name, property, path, depth, schema.required?.includes(name) ?? false);
    return [row, ...below(property, row.path, depth + 1, inside)];
  });
  const values = typeof schema.additionalProperties === "object" ? mapRows(schema.additionalProperties, path, depth, inside) : [];
  return [...parts, ...fields, ...values];
}

/** Each object variant starts with the field that distinguishes it. */
function rowsOfVariants(variants: Schema[], path: string, depth: number, within: Schema[]): Row[] {
  const objects = variants.filter((variant) => resolve(variant).properties);
  // More than four would be too long; the example and the explorer show them one at a time.
  if (objects.length > 4) return objects.map((variant) => variantRow(variant, path, depth));
  return objects.flatMap((variant) => [variantRow(variant, path, depth), ...below(variant, path, depth + 1, within)]);
}

function variantRow(variant: Schema, path: string, depth: number): Row {
  const schema = resolve(variant);
  const [key, property] = Object.entries(schema.properties ?? {}).find(([, value]) => resolve(value).enum?.length === 1) ?? [];
  const value = property ? `${String(key)} \`${String(resolve(property).enum?.[0])}\`` : "otherwise";
  const fields = Object.keys(schema.properties ?? {}).filter((name) => name !== key);
  return {
    name: value,
    path: `${path}|${value}`,
    depth,
    type: nameOf(variant) ?? "object",
    required: false,
    description: schema.description ?? `With ${fields.map((name) => `\`${name}\``).join(", ") || "nothing else"}.`,
    constraints: [],
  };
}

function mapRows(values: Schema, path: string, depth: number, within: Schema[]): Row[] {
  if (Object.keys(values).length === 0) return [];
  const row = rowOf("{}", values, path, depth, false);
  return [row, ...below(values, row.path, depth + 1, within)];
}

function rowOf(name: string, property: Schema, path: string, depth: number, required: boolean): Row {
  const schema = resolve(property);
  return {
    name,
    path: path === "" ? name : `${path}.${name}`,
    depth,
    type: typeOf(property),
    required,
    description: property.description ?? schema.description ?? "",
    constraints: [...constraintsOf(property), ...exampleText(property)],
  };
}

function exampleText(property: Schema): string[] {
  const { example } = resolve(property);
  if (example === undefined || typeof example === "object") return [];
  return [`such as \`${String(exampleOf(property))}\``];
}

function range(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least === undefined && most === undefined) return undefined;
  const number = (value: number): string => value.toLocaleString("en-GB");
  const what = unit === "" ? "" : ` ${most === 1 || (most === undefined && least === 1) ? unit : plural(unit)}`;
  if (most === undefined || most === Number.MAX_SAFE_INTEGER) return least === undefined ? undefined : `at least ${number(least)}${what}`;
  if (least === undefined || (least === 0 && unit !== "")) return `at most ${number(most)}${what}`;
  return least === most ? `${number(least)}${what}` : `${number(least)} to ${number(most)}${what}`;
}

function plural(unit: string): string {
  return unit === "entry" ? "entries" : `${unit}s`;
}

function patternInWords(pattern: string): string {
  return pattern === "^[0-9a-f]{24}$" ? "an id: 24 hexadecimal characters" : `matches \`${pattern}\``;
}
