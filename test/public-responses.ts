import { z } from "@hono/zod-openapi";
import { document, resolveRef, type Operation, type Schema } from "./openapi.ts";
import { PUBLIC_FIELDS } from "./public-fields.ts";

// Compares what unauthenticated callers receive with the reviewed list of public fields: in the document, and in every response.

type AnySchema = Parameters<typeof resolveRef>[0];

const Declared = z.looseObject({
  content: z.record(z.string(), z.looseObject({ schema: z.custom<AnySchema>().optional() })).default({}),
});

/** The fields of each schema, by its name or, for a nested object, its path. */
export type FieldsBySchema = Map<string, { fields: Set<string>; required: Set<string> }>;

/** The schema of a JSON response, as in the document. */
function jsonSchema(operation: Operation, status: number): AnySchema | undefined {
  const responses = z.record(z.string(), Declared).parse(document.paths[operation.path]?.[operation.method]?.responses);
  return responses[status]?.content["application/json"]?.schema;
}

function named(schema: AnySchema, path: string): { name: string; schema: Schema } {
  const name = "$ref" in schema ? schema.$ref.replace("#/components/schemas/", "") : path;
  return { name, schema: resolveRef(schema) };
}

/** A schema together with its alternatives and parts. */
function partsOf(from: AnySchema, path: string): { name: string; schema: Schema }[] {
  const own = named(from, path);
  const parts = [...(own.schema.allOf ?? []), ...(own.schema.oneOf ?? []), ...(own.schema.anyOf ?? [])];
  return [own, ...parts.flatMap((part) => partsOf(part, own.name))];
}

function isOpen({ properties, additionalProperties }: Schema): boolean {
  return properties === undefined || (additionalProperties !== undefined && additionalProperties !== false);
}

/** Every field that the document lists for an operation's successful responses. */
export function fieldsInDocument(operations: Operation[]): FieldsBySchema {
  const found: FieldsBySchema = new Map();
  const seen = new Set<string>();
  const visit = (from: AnySchema, path: string): void => {
    if ("$ref" in from && seen.has(from.$ref)) return;
    if ("$ref" in from) seen.add(from.$ref);
    for (const { name, schema } of partsOf(from, path)) {
      if (schema.items) visit(schema.items, name);
      if (!schema.properties) continue;
      const entry = found.get(name) ?? { fields: new Set(), required: new Set() };
      found.set(name, entry);
      for (const field of schema.required ?? []) entry.required.add(field);
      for (const [field, inner] of Object.entries(schema.properties)) {
        entry.fields.add(field);
        visit(inner, `${name}.${field}`);
      }
    }
  };
  for (const operation of operations) {
    for (const status of [200, 201]) {
      const schema = jsonSchema(operation, status);
      if (schema) visit(schema, operation.operationId);
    }
  }
  return found;
}

/** Fields of a response that aren't in the list of public fields, as "<schema>.<field>". */
export function unlistedFields(operation: Operation, status: number, body: unknown): string[] {
  const schema = jsonSchema(operation, status);
  return schema ? unlisted(body, [{ schema, name: operation.operationId }]) : [];
}

function unlisted(value: unknown, candidates: { schema: AnySchema; name: string }[]): string[] {
  const parts = candidates.flatMap(({ schema, name }) => partsOf(schema, name));
  if (Array.isArray(value)) {
    const items = parts.flatMap(({ name, schema }) => (schema.items ? [{ schema: schema.items, name }] : []));
    return value.flatMap((item) => unlisted(item, items));
  }
  if (typeof value !== "object" || value === null) return [];
  const typed = parts.filter(({ schema }) => schema.properties !== undefined);
  const allowsMore = typed.length === 0 || typed.some(({ schema }) => isOpen(schema));
  return Object.entries(value).flatMap(([field, inner]) => {
    const known = typed.filter(({ schema }) => schema.properties?.[field] !== undefined);
    if (known.length === 0) return allowsMore ? [] : [`${typed[0]?.name ?? ""}.${field}`];
    const listed = known.filter(({ name }) => PUBLIC_FIELDS[name]?.shown.includes(field));
    if (listed.length === 0) return known.map(({ name }) => `${name}.${field}`);
    const next = listed.map(({ name, schema }) => ({ schema: schema.properties?.[field] ?? {}, name: `${name}.${field}` }));
    return unlisted(inner, next);
  });
}
