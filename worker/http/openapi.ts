import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-env.ts";
import { SECURITY_SCHEMES } from "./credentials.ts";
import { splitDirections } from "./openapi-directions.ts";

/** The descriptions of tags by name, in the order of the document. */
type Tags = Readonly<Record<string, string>>;

/** The OpenAPI document of all mounted routes; emitted at build time and served as a static file. */
export function openApiDocument(app: OpenAPIHono<AppEnv>, tags: Tags) {
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  app.openAPIRegistry.registerComponent("parameters", "IdempotencyKey", {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description: "Requests with the same key run once: for 24 hours, retries get the first response with `Idempotent-Replayed: true`.",
    schema: { type: "string", pattern: "^[!-~]{1,255}$", maxLength: 255 },
    example: "goal-17-home",
  });
  return app.getOpenAPIDocument(
    {
      openapi: "3.0.3",
      info: {
        title: "Content API",
        version: "2.0.0",
        description:
          "Live audience engagement at the edge: channels, overlays and viewers. Every path works with and without a trailing slash. Times are milliseconds since 1970 UTC unless a field says otherwise.",
        license: { name: "MIT", url: "https://opensource.org/license/mit" },
        contact: { name: "Tifo", url: "https://github.com/tifo-live/tifo" },
      },
      servers: [{ url: "/", description: "This deployment" }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    },
    { sortComponents: "alphabetically" },
  );
}

/** The document's text, with each schema adapted to its direction and valid for strict OpenAPI 3.0 tools. */
export function openApiText(app: OpenAPIHono<AppEnv>, tags: Tags): string {
  const repaired: unknown = JSON.parse(JSON.stringify(openApiDocument(app, tags), repaired30));
  return `${JSON.stringify(splitDirections(repaired), null, 2)}\n`;
}

/** In OpenAPI 3.0, `nullable` only works beside a `type`, which references and unions don't have. */
const NULL = { type: "object", nullable: true, enum: [null] };

/** Repairs the library's output for `z.unknown()`, nullable unions and references, and slashes in patterns. */
function repaired30(key: string, value: unknown): unknown {
  if (isBareNullable(value)) return {};
  // Outside of a union's list of members, a described one is a `z.unknown()` too.
  if (isNullable(value) && !/^\d+$/.test(key)) return { description: descriptionOf(value) };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const schema = "pattern" in value && typeof value.pattern === "string" ? { ...value, pattern: unescapeSlashes(value.pattern) } : value;
  return withNullMember(schema);
}

/** The library marks a nullable union or reference with a bare `nullable` member, which becomes an explicit null. */
function withNullMember(schema: object): object {
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const { [keyword]: members, ...rest } = Object.fromEntries<unknown>(Object.entries(schema).filter(([name]) => name !== "nullable"));
    if (!Array.isArray(members) || !members.some(isNullable)) continue;
    const others: unknown[] = members.filter((member) => !isNullable(member));
    const description = members.map(descriptionOf).find((text) => text !== undefined);
    return { ...rest, ...(description && { description }), [keyword === "anyOf" ? "anyOf" : "oneOf"]: [...others, NULL] };
  }
  return schema;
}

/** Removes the escapes of slashes that `RegExp.source` adds and JSON Schema doesn't need. */
export function unescapeSlashes(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gs, (escape, character: string) => (character === "/" ? "/" : escape));
}

/** `{ nullable: true }` without a type or description, which means nothing. */
function isBareNullable(value: unknown): boolean {
  return isNullable(value) && descriptionOf(value) === undefined;
}

function isNullable(value: unknown): value is { nullable: true } {
  const keywords = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return keywords.includes("nullable") && keywords.every((keyword) => keyword === "nullable" || keyword === "description");
}

function descriptionOf(value: unknown): string | undefined {
  if (!isNullable(value) || !("description" in value)) return undefined;
  return typeof value.description === "string" ? value.description : undefined;
}
