import { dereference, validate } from "@cfworker/json-schema";
import { z } from "@hono/zod-openapi";
import { Api } from "#worker/app.ts";
import { openApiText } from "#worker/http/openapi.ts";
import { TAGS } from "#worker/routes/areas.ts";

// Validates against the published OpenAPI text as a third-party validator would: strictly by OpenAPI 3.0.3, without our zod schemas.

type Schema = Record<string, unknown>;

const Body = z.object({ content: z.record(z.string(), z.object({ schema: z.record(z.string(), z.unknown()).optional() })).default({}) });
const Operation = z.object({ operationId: z.string(), requestBody: Body.optional(), responses: z.record(z.string(), Body) });
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
});

export const published = Document.parse(JSON.parse(openApiText(await new Api().whole(), TAGS)));

const definitions = new Map<string, Schema>(Object.entries(published.components.schemas));
for (const { operationId, requestBody, responses } of Object.values(published.paths).flatMap((path) => Object.values(path))) {
  if (requestBody) define(`${operationId} request`, requestBody);
  for (const [status, response] of Object.entries(responses)) define(`${operationId} ${status}`, response);
}

const root = {
  $id: "https://tifo.example/schemas",
  $defs: Object.fromEntries([...definitions].map(([name, schema]) => [name, jsonSchema(schema)])),
};
const lookup = dereference(root);

/** A validator's errors for the JSON body of a successful request; none if the document describes no body. */
export function requestViolations(operationId: string, body: unknown): string[] {
  return violations(`${operationId} request`, body);
}

/** A validator's errors for the JSON body of a response. */
export function responseViolations(operationId: string, status: number, body: unknown): string[] {
  return violations(`${operationId} ${status}`, body);
}

function violations(name: string, body: unknown): string[] {
  const schema = root.$defs[name];
  if (!schema) return [];
  const { errors } = validate(body, schema, "2019-09", lookup, false);
  return errors.map(({ instanceLocation, keyword, error }) => `${instanceLocation} ${keyword}: ${error}`);
}

function define(name: string, { content }: z.output<typeof Body>): void {
  const schema = (content["application/json"] ?? content["application/problem+json"])?.schema;
  if (schema) definitions.set(name, schema);
}

/** Converts OpenAPI 3.0.3 to JSON Schema: `nullable` applies only with a `type` in the same schema. */
function jsonSchema(schema: Schema): Schema {
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const constraints = Object.entries(rest).filter(([keyword]) => keyword !== "example" && keyword !== "discriminator");
  const converted = Object.fromEntries(constraints.map(([keyword, value]) => [keyword, convert(keyword, value)]));
  if (exclusiveMinimum === true) Object.assign(converted, { exclusiveMinimum: schema.minimum });
  if (exclusiveMaximum === true) Object.assign(converted, { exclusiveMaximum: schema.maximum });
  return nullable === true && typeof rest.type === "string" ? { ...converted, type: [rest.type, "null"] } : converted;
}

function convert(keyword: string, value: unknown): unknown {
  if (keyword === "$ref" && typeof value === "string") return value.replace("#/components/schemas/", "#/$defs/");
  if (keyword === "properties" && isSchema(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, property]) => [name, isSchema(property) ? jsonSchema(property) : property]),
    );
  }
  if (Array.isArray(value)) return value.map((member: unknown) => (isSchema(member) ? jsonSchema(member) : member));
  return isSchema(value) ? jsonSchema(value) : value;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
