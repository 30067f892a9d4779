import { OpenAPIHono, z } from "@hono/zod-openapi";
import { Api } from "#worker/app.ts";
import { openApiDocument } from "#worker/http/openapi.ts";
import { TAGS } from "#worker/routes/areas.ts";

// The app's OpenAPI document for tests: references resolved, credentials as lists, responses with their zod schemas.

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

const DeclaredResponse = z.looseObject({ description: z.string(), content: z.record(z.string(), z.unknown()).default({}) });

const app = await new Api().whole();
export const document = openApiDocument(app, TAGS);

/** Everything that was registered, before equal names collapse into one. */
export const definitions = app.openAPIRegistry.definitions;

type Components = NonNullable<(typeof document)["components"]>;
type SchemaOrReference = NonNullable<Components["schemas"]>[string];
export type Schema = Exclude<SchemaOrReference, { $ref: string }>;
type RawOperation = NonNullable<(typeof document)["paths"][string]["get"]>;

export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
  example: unknown;
}

export interface Operation {
  operationId: string;
  method: (typeof METHODS)[number];
  path: string;
  summary: string;
  description: string;
  tags: string[];
  /** Sets of kinds of credentials, any one of which suffices. */
  security: string[][];
  parameters: Parameter[];
  body: { required: boolean; schema: Schema; example: unknown } | undefined;
  /** Whether the body is a form with a file. */
  takesFile: boolean;
  /** An example of a text body that isn't JSON. */
  text: Blob | undefined;
  /** Description and media types, by status. */
  responses: Map<number, { description: string; content: string[] }>;
  /** The zod schemas of JSON responses, by status. */
  responseSchemas: Map<number, z.ZodType>;
}

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const raw: RawOperation | undefined = item[method];
    return raw ? [readOperation(method, path, raw)] : [];
  }),
);

const byId = new Map(operations.map((operation) => [operation.operationId, operation]));

/** The statuses of an operation's successful responses. */
export function successStatuses({ responses }: Pick<Operation, "responses">): number[] {
  return [...responses.keys()].filter((status) => status < 400);
}

export function operationOf(operationId: string): Operation {
  const operation = byId.get(operationId);
  if (!operation) throw new Error(`The document has no operation ${operationId}`);
  return operation;
}

/** The schema's own example, or one built from its parts; undefined if there is none. */
export function exampleOf(from: SchemaOrReference): unknown {
  const schema = resolveRef(from);
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.type === "boolean") return false;
  if (schema.type === "array") return schema.minItems && schema.items ? [exampleOf(schema.items)] : [];
  if (schema.type !== "object") return undefined;
  const required = (schema.required ?? []).flatMap((name) => {
    const property = schema.properties?.[name];
    return property ? [[name, exampleOf(property)] as const] : [];
  });
  return Object.fromEntries(required);
}

/** Resolves a reference to its schema. */
export function resolveRef(schema: SchemaOrReference): Schema {
  if (!("$ref" in schema)) return schema;
  const named = document.components?.schemas?.[schema.$ref.replace("#/components/schemas/", "")];
  if (!named) throw new Error(`${schema.$ref} is not in the document`);
  return resolveRef(named);
}

function readOperation(method: Operation["method"], path: string, raw: RawOperation): Operation {
  const content = raw.requestBody && "content" in raw.requestBody ? raw.requestBody.content["application/json"] : undefined;
  const takesFile = raw.requestBody !== undefined && "content" in raw.requestBody && "multipart/form-data" in raw.requestBody.content;
  const required = raw.requestBody && "required" in raw.requestBody ? raw.requestBody.required === true : false;
  return {
    operationId: raw.operationId ?? "",
    method,
    path,
    summary: raw.summary ?? "",
    description: raw.description ?? "",
    tags: raw.tags ?? [],
    security: (raw.security ?? []).map((set) => Object.keys(set)),
    parameters: (raw.parameters ?? []).flatMap((parameter) => {
      if ("$ref" in parameter || !parameter.schema) return [];
      const schema = resolveRef(parameter.schema);
      const ownExample: unknown = parameter.example;
      return [
        {
          name: parameter.name,
          in: parameter.in,
          required: parameter.required === true,
          schema,
          example: ownExample ?? exampleOf(schema),
        },
      ];
    }),
    body: content?.schema && { required, schema: resolveRef(content.schema), example: content.example ?? exampleOf(content.schema) },
    takesFile,
    text: textOf(raw),
    responses: readResponses(raw),
    responseSchemas: responseSchemasOf(method, path),
  };
}

function textOf(raw: RawOperation): Blob | undefined {
  const content = raw.requestBody && "content" in raw.requestBody ? raw.requestBody.content : {};
  const [type, media] = Object.entries(content).find(([name]) => name.startsWith("text/")) ?? [];
  return type === undefined || !media?.schema ? undefined : new Blob([String(exampleOf(media.schema))], { type });
}

function readResponses(raw: RawOperation): Operation["responses"] {
  const entries = Object.entries(raw.responses).flatMap(([status, response]: [string, unknown]) => {
    const { description, content } = DeclaredResponse.parse(response);
    return [[Number(status), { description, content: Object.keys(content) }] as const];
  });
  return new Map(entries);
}

function responseSchemasOf(method: string, path: string): Map<number, z.ZodType> {
  const schemas = new Map<number, z.ZodType>();
  for (const definition of definitions) {
    if (definition.type !== "route" || definition.route.method !== method || definition.route.path !== path) continue;
    for (const [status, response] of Object.entries(definition.route.responses)) {
      const media = "content" in response ? response.content?.["application/json"] : undefined;
      const schema = media && "schema" in media ? media.schema : undefined;
      if (schema instanceof z.ZodType) schemas.set(Number(status), schema);
    }
  }
  return schemas;
}

/**
 * Every schema name with its different shapes; if there is more than one, the document contains only the last.
 * Each route gets its own document, because within one document a later schema silently replaces an earlier one.
 */
export function namedSchemas(): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const definition of definitions) {
    if (definition.type !== "route") continue;
    const single = new OpenAPIHono();
    single.openAPIRegistry.registerPath(definition.route);
    const { components } = single.getOpenAPIDocument({ openapi: "3.0.3", info: { title: "", version: "" } });
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      named.set(name, (named.get(name) ?? new Set()).add(JSON.stringify(schema)));
    }
  }
  return named;
}
