import { z } from "@hono/zod-openapi";
import { unescapeSlashes } from "#worker/http/openapi.ts";
import * as protocol from "#worker/durable-objects/relay/relay.protocol.ts";

/** JSON Schema of a message or of a part of one; references others as `#/components/schemas/<name>`. */
export type JsonSchema = Record<string, unknown>;

/** The realtime protocol's schemas by name, as JSON Schema: the source of AsyncAPI, the SDK's types and the docs. */
export function protocolSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries(protocol)) if (schema instanceof z.ZodType) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}`, override: readable });
  return Object.fromEntries(Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, ...schema }]) => [name, schema]));
}

/** The frames of one direction, by the names of their schemas. */
export function framesOf(union: "ServerFrame" | "ViewerFrame"): { name: string; type: string; description: string | undefined }[] {
  const names = new Map<unknown, string>(Object.entries(protocol).map(([name, schema]) => [schema, name]));
  return protocol[union].options.map((schema) => {
    const { type } = schema.shape;
    return { name: names.get(schema) ?? type.value, type: type.value, description: schema.description };
  });
}

/** Removes the bounds of safe integers and the escaped slashes that zod adds, so that the documents are easier to read. */
function readable({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number; pattern?: string } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.pattern !== undefined) jsonSchema.pattern = unescapeSlashes(jsonSchema.pattern);
}
