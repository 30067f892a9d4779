import { readFileSync } from "node:fs";
import { z } from "@hono/zod-openapi";
import { believable } from "./believable.ts";

// The OpenAPI document as the reference pages read it at build time.

export interface Schema {
  $ref?: string | undefined;
  type?: string | undefined;
  description?: string | undefined;
  example?: unknown;
  default?: unknown;
  enum?: unknown[] | undefined;
  nullable?: boolean | undefined;
  pattern?: string | undefined;
  format?: string | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
  additionalProperties?: boolean | Schema | undefined;
  items?: Schema | undefined;
  oneOf?: Schema[] | undefined;
  anyOf?: Schema[] | undefined;
  allOf?: Schema[] | undefined;
}

const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.string().optional(),
    description: z.string().optional(),
    example: z.unknown().optional(),
    default: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    nullable: z.boolean().optional(),
    pattern: z.string().optional(),
    format: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), Schema]).optional(),
    items: Schema.optional(),
    oneOf: z.array(Schema).optional(),
    anyOf: z.array(Schema).optional(),
    allOf: z.array(Schema).optional(),
  }),
);

const Media = z.object({ schema: Schema.optional(), example: z.unknown().optional() });
const Content = z.record(z.string(), Media).default({});
const Parameter = z.object({
  $ref: z.string().optional(),
  name: z.string().default(""),
  in: z.string().default(""),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: Schema.default({}),
  example: z.unknown().optional(),
});
const RawOperation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ required: z.boolean().default(false), content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Content })),
});
const Scheme = z.object({
  type: z.string(),
  in: z.string().optional(),
  name: z.string().optional(),
  scheme: z.string().optional(),
  description: z.string().optional(),
});

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

const Document = z.object({
  info: z.object({ title: z.string(), version: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), RawOperation)),
  components: z.object({
    securitySchemes: z.record(z.string(), Scheme),
    parameters: z.record(z.string(), Parameter),
    schemas: z.record(z.string(), Schema),
  }),
});

type Parameter = z.infer<typeof Parameter>;

/** A request or response body in one media type. */
export interface Body {
  type: string;
  schema: Schema | undefined;
  example: unknown;
}

export interface OperationResponse {
  status: number;
  description: string;
  /** Empty if the response has no body. */
  bodies: Body[];
}

export interface Operation {
  operationId: string;
  method: (typeof METHODS)[number];
  path: string;
  summary: string;
  /** Paragraphs whose only markup is inline code. */
  description: string;
  area: string;
  /** Sets of credentials; any one set is enough. */
  security: string[][];
  parameters: Parameter[];
  body: (Body & { required: boolean }) | undefined;
  /** Those with a status below 400. */
  responses: OperationResponse[];
  /** Those from 400: one entry per error code. */
  errors: { status: number; code: string; title: string }[];
}

export interface Area {
  name: string;
  description: string;
  slug: string;
  operations: Operation[];
}

/** Parsed once for all pages, because it takes a while. */
const document = Document.parse(JSON.parse(readFileSync("docs/public/openapi.json", "utf8")));

export const VERSION = document.info.version;
export const securitySchemes = document.components.securitySchemes;

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const raw = item[method];
    return raw ? [readOperation(method, path, raw)] : [];
  }),
);

/** The areas, in the document's order. */
export const areas: Area[] = document.tags.map(({ name, description }) => ({
  name,
  description,
  slug: name.toLowerCase().replaceAll(/[^a-z]+/g, "-"),
  operations: operations.filter(({ area }) => area === name),
}));

/** The name of a referenced schema. */
export function nameOf(schema: Schema): string | undefined {
  return schema.$ref?.replace("#/components/schemas/", "");
}

/** Resolves a reference. */
export function resolve(schema: Schema): Schema {
  const name = nameOf(schema);
  if (name === undefined) return schema;
  const named = document.components.schemas[name];
  if (!named) throw new Error(`${name} is not in the document`);
  return resolve(named);
}

/** A schema's own example, or one built from its parts; with `optional`, also from optional properties, up to a depth. */
export function exampleOf(from: Schema, optional = false, depth = 0): unknown {
  const schema = resolve(from);
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const variant = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (variant) return exampleOf(variant, optional, depth);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, optional, depth)));
  if (schema.nullable && !schema.properties) return null;
  if (schema.type === "boolean") return true;
  if (schema.type === "integer" || schema.type === "number") return Math.max(schema.minimum ?? 0, 1);
  if (schema.type === "string") return "text";
  if (schema.type === "array") return schema.items && depth < 5 ? [exampleOf(schema.items, optional, depth + 1)] : [];
  const names = Object.keys(schema.properties ?? {}).filter((name) => (optional && depth < 3) || schema.required?.includes(name));
  return Object.fromEntries(names.map((name) => [name, exampleOf(schema.properties?.[name] ?? {}, optional, depth + 1)]));
}

function readOperation(method: Operation["method"], path: string, raw: z.infer<typeof RawOperation>): Operation {
  const [sent] = bodiesOf(raw.requestBody?.content ?? {}, false);
  const responses = Object.entries(raw.responses).map(([status, response]) => ({ ...response, status: Number(status) }));
  return {
    operationId: raw.operationId,
    method,
    path,
    summary: raw.summary,
    description: raw.description,
    area: raw.tags[0] ?? "",
    security: raw.security.map((set) => Object.keys(set)),
    parameters: raw.parameters.map(readParameter),
    body: sent && { ...sent, required: raw.requestBody?.required ?? false },
    responses: responses
      .filter(({ status }) => status < 400)
      .map(({ status, description, content }) => ({ status, description, bodies: bodiesOf(content, true) })),
    errors: responses
      .filter(({ status }) => status >= 400)
      .flatMap(({ status, description }) => codesOf(description).map((error) => ({ status, ...error }))),
  };
}

function readParameter(parameter: Parameter): Parameter {
  const named = document.components.parameters[parameter.$ref?.replace("#/components/parameters/", "") ?? ""];
  if (named) return readParameter(named);
  const schema = resolve(parameter.schema);
  return { ...parameter, schema, example: parameter.example ?? schema.example ?? schema.default };
}

function bodiesOf(content: z.infer<typeof Content>, optional: boolean): Body[] {
  return Object.entries(content).map(([type, { schema, example }]) => ({
    type,
    schema,
    example: example ?? (schema && (optional ? believable(exampleOf(schema, optional), thingIn(schema)) : exampleOf(schema, optional))),
  }));
}

/** The name of what a response contains, or lists. */
function thingIn(schema: Schema): string {
  const listed = resolve(schema).properties?.["results"]?.items;
  return nameOf(listed ?? schema) ?? "";
}

/** The description of an error response lists its codes with their titles. */
function codesOf(description: string): { code: string; title: string }[] {
  return [...description.matchAll(/`([a-z_]+)`: ([^`]+?)\.?\s*(?=`|$)/g)].map(([, code = "", title = ""]) => ({ code, title }));
}
