import { z } from "@hono/zod-openapi";
import type { ApiExcerpt, ApiOperation, Schema } from "./schema.ts";

const Content = z.record(z.string(), z.object({ schema: z.custom<Schema>().optional() })).optional();
const Operation = z.object({
  operationId: z.string(),
  parameters: z.array(z.record(z.string(), z.unknown())).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ content: Content })),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({ schemas: z.record(z.string(), z.custom<Schema>()) }),
});

const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  schema: z.custom<Schema>().optional(),
  description: z.string().optional(),
});

/** Takes operations and what they refer to out of the OpenAPI document. It runs when Studio is built. */
export function excerptOf(document: unknown, operationIds: string[]): ApiExcerpt {
  const { paths, components } = Document.parse(document);
  const excerpt: ApiExcerpt = { operations: {}, schemas: {} };
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, declared] of Object.entries(item)) {
      const operation = Operation.safeParse(declared);
      if (!operation.success || !operationIds.includes(operation.data.operationId)) continue;
      excerpt.operations[operation.data.operationId] = toOperation(method, path, operation.data);
    }
  }
  const missing = operationIds.filter((id) => !excerpt.operations[id]);
  if (missing.length > 0) throw new Error(`The OpenAPI document has no operation ${missing.join(", ")}`);
  addSchemas(excerpt, components.schemas, JSON.stringify(excerpt.operations));
  return excerpt;
}

function toOperation(method: string, path: string, { parameters, requestBody, responses }: z.infer<typeof Operation>): ApiOperation {
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  return {
    method: method.toUpperCase(),
    path,
    parameters: parameters.map((parameter) => Parameter.safeParse(parameter)).flatMap(({ data }) => (data ? [data] : [])),
    body: requestBody?.content?.["application/json"]?.schema,
    response: success?.content?.["application/json"]?.schema,
  };
}

function addSchemas(excerpt: ApiExcerpt, schemas: Record<string, Schema>, text: string): void {
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = schemas[name];
    if (!schema || excerpt.schemas[name]) continue;
    excerpt.schemas[name] = schema;
    addSchemas(excerpt, schemas, JSON.stringify(schema));
  }
}
