import type { Issue } from "#worker/lib/errors.ts";
import { schemaProblems } from "#worker/lib/json-schema/json-schema.ts";
import { isSchema, type Schema } from "#worker/lib/json-schema/schema.ts";
import { EVENT_STEPS, instanceProblems } from "#worker/integrations/json-schema.ts";
import { StepBudget } from "#worker/lib/json-schema/steps.ts";

// Schemas of a graphic's data: JSON Schema with the types of GDD ("Graphics Data Definition"), as OGraf wants them.

const TYPES = ["boolean", "string", "number", "integer", "array", "object"];
/** The only patterns that OGraf itself defines. Others are rejected, because V8 backtracks in regular expressions. */
const COLORS: Record<string, { pattern: string; matches: RegExp }> = {
  "color-rrggbb": { pattern: "^#[0-9a-f]{6}$", matches: /^#[0-9a-f]{6}$/ },
  "color-rrggbbaa": { pattern: "^#[0-9a-f]{8}$", matches: /^#[0-9a-f]{8}$/ },
};
/** Which types a GDD type is for. */
const GDD_TYPES: Record<string, string[]> = {
  "single-line": ["string"],
  "multi-line": ["string"],
  "file-path": ["string"],
  "file-path/image-path": ["string"],
  "color-rrggbb": ["string"],
  "color-rrggbbaa": ["string"],
  select: ["string", "number", "integer"],
  percentage: ["number"],
  "duration-ms": ["integer"],
};
const MAX_DEPTH = 20;

/** What keeps a schema from being used, by dotted path; empty if it is valid and cheap enough to validate with. */
export function dataSchemaProblems(schema: Schema): Issue[] {
  const issues: Issue[] = [];
  checkGdd(schema, [], issues);
  return issues.length > 0 ? issues : schemaProblems(withoutColors(schema));
}

/** What one request may spend on validating data, however many graphics and actions it names. */
export const newBudget = () => new StepBudget(EVENT_STEPS);

/** The problems of a graphic's data, by dotted path. The schema must have no `dataSchemaProblems`. */
export async function dataProblems(schema: Schema, data: unknown, budget: StepBudget): Promise<Issue[]> {
  const issues = await instanceProblems(withoutColors(schema), data, budget);
  return issues.length > 0 ? issues : colorProblems(schema, data, []);
}

/** The values that a graphic starts with, where the overlay has none. They needn't match the schema: the graphic's author chose them. */
export function defaultsOf(schema: Schema): Record<string, unknown> {
  const own = isSchema(schema.default) ? schema.default : {};
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const values = properties.flatMap(([name, inner]) => {
    const value = isSchema(inner) ? defaultOf(inner) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(values), ...own };
}

function defaultOf(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.type !== "object") return undefined;
  const values = defaultsOf(schema);
  return Object.keys(values).length > 0 ? values : undefined;
}

/** OGraf's own rules, in addition to those of JSON Schema. */
function checkGdd(schema: unknown, path: string[], issues: Issue[]): void {
  const problem = (name: string, message: string) =>
    issues.push({ path: [...path, name].filter((part) => part !== "").join("."), message });
  if (path.length > MAX_DEPTH * 2) return void problem("", `At most ${MAX_DEPTH} levels deep`);
  if (!isSchema(schema)) return void problem("", "Must be a schema");
  const { type, gddType } = schema;
  if (typeof type !== "string" || !TYPES.includes(type)) return void problem("type", `Must be one of ${TYPES.join(", ")}`);
  if (schema.default !== undefined && !hasType(schema.default, type)) problem("default", `Must be of the type ${type}`);
  if (gddType !== undefined) checkGddType(schema, problem);
  if (type === "array") checkGdd(schema.items, [...path, "items"], issues);
  if (type !== "object") return;
  if (!isSchema(schema.properties)) return void problem("properties", "Must be an object whose values are schemas");
  for (const [name, inner] of Object.entries(schema.properties)) checkGdd(inner, [...path, "properties", name], issues);
}

function checkGddType({ type, gddType, gddOptions, ...schema }: Schema, problem: (name: string, message: string) => unknown): void {
  if (typeof gddType !== "string") return void problem("gddType", "Must be text");
  // Types that a vendor adds are annotations.
  const types = Object.hasOwn(GDD_TYPES, gddType) ? GDD_TYPES[gddType] : undefined;
  if (types && !types.includes(String(type))) problem("type", `Must be ${types.join(" or ")} for ${gddType}`);
  const color = Object.hasOwn(COLORS, gddType) ? COLORS[gddType] : undefined;
  if (color && schema.pattern !== color.pattern) problem("pattern", `Must be ${color.pattern} for ${gddType}`);
  if (gddType !== "select") return;
  if (!Array.isArray(schema.enum)) problem("enum", "Required for select");
  if (!isSchema(gddOptions) || !isSchema(gddOptions.labels)) problem("gddOptions", "Must have labels for select");
}

function hasType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isSchema(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

/** The schema without OGraf's patterns for colours, which are checked apart. */
function withoutColors(schema: Schema): Schema {
  const copied = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    if (name === "pattern" && Object.hasOwn(COLORS, String(schema.gddType))) return [];
    if (name === "properties" && isSchema(value))
      return [
        [name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, isSchema(inner) ? withoutColors(inner) : inner]))],
      ];
    return [[name, name === "items" && isSchema(value) ? withoutColors(value) : value]];
  });
  return Object.fromEntries(copied);
}

function colorProblems(schema: Schema, value: unknown, path: string[]): Issue[] {
  const color = COLORS[String(schema.gddType)];
  if (color && typeof value === "string" && !color.matches.test(value))
    return [{ path: path.join("."), message: `Must match ${color.pattern}` }];
  const { items, properties } = schema;
  if (Array.isArray(value) && isSchema(items))
    return value.flatMap((inner, index) => colorProblems(items, inner, [...path, String(index)]));
  if (!isSchema(value) || !isSchema(properties)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const of = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isSchema(of) ? colorProblems(of, inner, [...path, name]) : [];
  });
}
