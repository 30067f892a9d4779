import { OpenAPIHono, z } from "@hono/zod-openapi";
import { createApp } from "#worker/app.ts";
import { openApiDocument } from "#worker/http/openapi.ts";
import { TAGS } from "#worker/routes/areas.ts";

// The OpenAPI document of the app as tests read it: references followed, credentials as lists, answers with their zod schemas.

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

const DeclaredResponse = z.looseObject({ description: z.string(), content: z.record(z.string(), z.unknown()).default({}) });

const app = createApp();
export const document = openApiDocument(app, TAGS);

/** Everything that was registered, before names that are equal collapse into one. */
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
  /** Sets of kinds, any one of which is enough. */
  security: string[][];
  parameters: Parameter[];
  body: { required: boolean; schema: Schema; example: unknown } | undefined;
  /** Whether it takes a file, in a form. */
  takesFile: boolean;
  /** An example of a body that is text of another type than JSON. */
  text: Blob | undefined;
  /** By status: what the document says of it, and its media types. */
  responses: Map<number, { description: string; content: string[] }>;
  /** The schema of each JSON answer, by status. */
  answers: Map<number, z.ZodType>;
}

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const raw: RawOperation | undefined = item[method];
    return raw ? [readOperation(method, path, raw)] : [];
  }),
);

const byId = new Map(operations.map((operation) => [operation.operationId, operation]));

/** The statuses with which an operation says that it succeeded. */
export function successStatuses({ responses }: Pick<Operation, "responses">): number[] {
  return [...responses.keys()].filter((status) => status < 400);
}

export function operationOf(operationId: string): Operation {
  const operation = byId.get(operationId);
  if (!operation) throw new Error(`The document has no operation ${operationId}`);
  return operation;
}

/** What a schema's own example is, or one made of those of its parts; undefined where a part has none. */
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

/** The schema that a reference stands for. */
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
      const given: unknown = parameter.example;
      return [
        {
          name: parameter.name,
          in: parameter.in,
          required: parameter.required === true,
          schema,
          example: given ?? exampleOf(schema),
        },
      ];
    }),
    body: content?.schema && { required, schema: resolveRef(content.schema), example: content.example ?? exampleOf(content.schema) },
    takesFile,
    text: textOf(raw),
    responses: readResponses(raw),
    answers: answersOf(method, path),
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

function answersOf(method: string, path: string): Map<number, z.ZodType> {
  const answers = new Map<number, z.ZodType>();
  for (const definition of definitions) {
    if (definition.type !== "route" || definition.route.method !== method || definition.route.path !== path) continue;
    for (const [status, response] of Object.entries(definition.route.responses)) {
      const media = "content" in response ? response.content?.["application/json"] : undefined;
      const schema = media && "schema" in media ? media.schema : undefined;
      if (schema instanceof z.ZodType) answers.set(Number(status), schema);
    }
  }
  return answers;
}

/**
 * Every schema name, and the different shapes that it has; more than one, and the document shows only one of them.
 * Each route is documented alone, because within one document the later silently replaces the earlier.
 */
export function namedSchemas(): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const definition of definitions) {
    if (definition.type !== "route") continue;
    const alone = new OpenAPIHono();
    alone.openAPIRegistry.registerPath(definition.route);
    const { components } = alone.getOpenAPIDocument({ openapi: "3.0.3", info: { title: "", version: "" } });
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      named.set(name, (named.get(name) ?? new Set()).add(JSON.stringify(schema)));
    }
  }
  return named;
}
