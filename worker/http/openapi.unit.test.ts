import { OpenAPIHono, z } from "@hono/zod-openapi";
import { describe, expect, test } from "vitest";
import { published, requestViolations, responseViolations } from "#test/published-document.ts";
import { Api } from "#worker/app.ts";
import type { AppEnv } from "./app-env.ts";
import { TAGS } from "#worker/routes/areas.ts";
import { openApiText, unescapeSlashes } from "./openapi.ts";
import { orNull } from "#worker/lib/schemas/common.ts";

const { schemas } = published.components;
const text = openApiText(await new Api().whole(), TAGS);

const PANEL = { _id: "5eed00000000000000000001", created: 1, modified: 1, siteId: "5eed00000000000000000001" };

/** The document of an app with one operation. */
function documentOf(request: z.ZodType, response: z.ZodType): z.output<typeof Schemas> {
  const app = new OpenAPIHono<AppEnv>();
  app.openAPIRegistry.registerPath({
    operationId: "change",
    method: "put",
    path: "/things",
    request: { body: { required: true, content: { "application/json": { schema: request } } } },
    responses: { 200: { description: "Changed", content: { "application/json": { schema: response } } } },
  });
  return Schemas.parse(JSON.parse(openApiText(app, {})));
}
const Schemas = z.object({ components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }) });

test("a property of any type is one with only its description", () => {
  const Any = z.object({ payload: z.unknown().describe("Whatever was sent"), bare: z.unknown() }).openapi("Any");
  expect(documentOf(Any, Any).components.schemas.Any).toHaveProperty("properties", {
    payload: { description: "Whatever was sent" },
    bare: {},
  });
});

describe("a property with a default", () => {
  const Part = z.strictObject({ size: z.number().default(3).describe("In metres"), name: z.string() }).openapi("Part");
  const Whole = z.object({ parts: z.array(Part) }).openapi("Whole");
  const { components } = documentOf(Whole, Whole);

  test("is optional in the request schema, with the default in its description", () => {
    expect(components.schemas.PartInput).toMatchObject({
      required: ["name"],
      properties: { size: { type: "number", description: "In metres. Default: `3`" } },
    });
    expect(components.schemas.WholeInput).toMatchObject({ properties: { parts: { items: { $ref: "#/components/schemas/PartInput" } } } });
  });

  test("is required in the response schema", () => {
    expect(components.schemas.Part).toMatchObject({ required: ["size", "name"], properties: { size: { type: "number" } } });
    expect(components.schemas.Whole).toMatchObject({ properties: { parts: { items: { $ref: "#/components/schemas/Part" } } } });
  });

  test("doesn't split a schema that only requests use", () => {
    const Input = z.strictObject({ size: z.number().default(3) }).openapi("Input");
    const names = Object.keys(documentOf(Input, z.object({})).components.schemas);
    expect(names).toEqual(["Input"]);
  });

  test("fails the build if the name of the request schema is taken", () => {
    const Taken = z.object({ part: Part, other: z.object({}).openapi("PartInput") }).openapi("Taken");
    expect(() => documentOf(Taken, Taken)).toThrow("PartInput");
  });

  test("has no `default` in the published schemas, which would make generators treat it as required", () => {
    const withDefault = propertiesOf(schemas).filter(([, property]) => "default" in property);
    expect(withDefault.map(([name]) => name)).toEqual([]);
  });

  test("may be omitted from a request, and is always in a response", () => {
    expect(requestViolations("broadcastOverlay", { channelId: "5eed0000000000000000c001" })).toEqual([]);
    const renderer = { panel_type: "donations", panel_name: "Give", url: "https://demo.example/give" };
    expect(responseViolations("getPanel", 200, { ...PANEL, renderer }).join()).toContain("disable_on_mobile_embedded");
  });
});

describe("a nullable named schema", () => {
  const Look = z.discriminatedUnion("kind", [z.object({ kind: z.literal("one") }), z.object({ kind: z.literal("two") })]).openapi("Look");
  const { components } = documentOf(z.object({ look: orNull(Look).describe("How it looks") }).openapi("Wish"), Look);

  test("is a union of the schema and an explicit null, with the property's description", () => {
    expect(components.schemas.Wish).toMatchObject({
      properties: {
        look: {
          description: "How it looks",
          oneOf: [{ $ref: "#/components/schemas/Look" }, { type: "object", nullable: true, enum: [null] }],
        },
      },
    });
  });

  test("doesn't make the schema itself nullable", () => {
    expect(JSON.stringify(components.schemas.Look)).not.toContain("null");
    expect(Object.keys(schemas).filter((name) => schemas[name]?.nullable === true)).toEqual([]);
  });

  test("accepts null or a valid call to action in an overlay, and nothing else", () => {
    const overlay = { ...PANEL, name: "Goal", description: "", type: "template", duration: 8, contents: [] };
    const faultsOf = (cta: unknown): string[] =>
      responseViolations("getOverlay", 200, { ...overlay, contents: [{ kind: "html", html: "x", position: "center" }], cta });
    expect(faultsOf(null)).toEqual([]);
    expect(faultsOf({ type: "open_link", data: { url: "https://demo.example/" } })).toEqual([]);
    expect(faultsOf({ type: "open_link" })).not.toEqual([]);
  });
});

test.for([
  ["^https:\\/\\/x\\/$", "^https://x/$"],
  ["a\\\\/b\\.c", "a\\\\/b\\.c"],
])("unescapes only the slashes of the pattern %s", ([pattern, expected]) => {
  expect(unescapeSlashes(pattern ?? "")).toBe(expected);
});

test("the published document has no pattern with an escaped slash", () => {
  expect(text).not.toMatch(/"pattern": ".*(?<!\\)\\\\\//);
});

test("every write declares the 503 that it gets when its site is being moved", () => {
  const writes = Object.values(published.paths).flatMap((path) => Object.entries(path).filter(([method]) => method !== "get"));
  const silent = writes.filter(([, { responses }]) => !("503" in responses)).map(([, { operationId }]) => operationId);
  expect(silent).toEqual([]);
});

/** Every property of every schema, with its path. */
function propertiesOf(value: unknown, place = ""): [string, object][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const here = `${place}/${key}`;
    const own = key === "properties" && typeof inner === "object" && inner !== null ? Object.entries(inner) : [];
    const named = own.map(([name, property]: [string, unknown]): [string, object] => [`${here}/${name}`, Object.assign({}, property)]);
    return [...named, ...propertiesOf(inner, here)];
  });
}
