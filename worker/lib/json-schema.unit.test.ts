import { describe, expect, test } from "vitest";
import { instanceProblems } from "../integrations/json-schema.ts";
import { factsOf, schemaProblems } from "./json-schema.ts";

const MATCH = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["kind"],
  additionalProperties: false,
  properties: {
    kind: { enum: ["goal", "card"] },
    minute: { type: "integer", minimum: 0 },
    home: { $ref: "#/$defs/team" },
    tags: { type: "array", items: { type: "string" } },
  },
  $defs: { team: { type: "object", properties: { name: { type: ["string", "null"] }, score: { type: "number" } } } },
};

describe("a schema", () => {
  test("that is one has no problems", () => {
    expect(schemaProblems(MATCH)).toEqual([]);
    expect(schemaProblems({ type: "object", properties: { a: true, b: { anyOf: [{ type: "string" }, { $ref: "#" }] } } })).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["of no object", { type: "string" }, "type"],
    ["of no type", {}, "type"],
    ["with a type that isn't one", { type: "object", properties: { a: { type: "float" } } }, "properties.a.type"],
    ["with properties that are a list", { type: "object", properties: [] }, "properties"],
    ["with a schema that is a text", { type: "object", properties: { a: "string" } }, "properties.a"],
    ["with required that is no list", { type: "object", required: "a" }, "required"],
    ["with a minimum that is a text", { type: "object", properties: { a: { minimum: "1" } } }, "properties.a.minimum"],
    ["with a broken pattern", { type: "object", properties: { a: { pattern: "(" } } }, "properties.a.pattern"],
    ["with a broken pattern of names", { type: "object", patternProperties: { "(": {} } }, "patternProperties.("],
    ["with a list that holds none", { type: "object", allOf: [{ type: 7 }] }, "allOf.0.type"],
    ["with a reference to elsewhere", { type: "object", $ref: "https://schemas.example/match" }, "$ref"],
    ["with a reference to nothing", { type: "object", items: { $ref: "#/$defs/none" } }, "items.$ref"],
    ["with an empty enum", { type: "object", properties: { a: { enum: [] } } }, "properties.a.enum"],
    ["with a negative count", { type: "object", minProperties: -1 }, "minProperties"],
  ])("%s is refused by the path", (_, schema, path) => {
    expect(schemaProblems(schema).map((issue) => issue.path)).toEqual([path]);
  });

  test("that is deeper than can be checked is refused", () => {
    let schema: Record<string, unknown> = {};
    for (let depth = 0; depth < 50; depth++) schema = { properties: { a: schema } };
    expect(schemaProblems({ ...schema, type: "object" })).toHaveLength(1);
  });
});

describe("the facts of a schema", () => {
  test("are the dotted paths of its leaves, with their types", () => {
    expect(factsOf(MATCH)).toEqual({ kind: "string", minute: "number", "home.name": "string", "home.score": "number", tags: "array" });
  });

  test("are those of all branches, and none of a name with a dot", () => {
    const schema = {
      type: "object",
      properties: { "a.b": { type: "string" }, x: { oneOf: [{ properties: { y: { type: "boolean" } } }, { properties: { z: {} } }] } },
      allOf: [{ properties: { w: { const: 7 } } }],
    };
    expect(factsOf(schema)).toEqual({ w: "number", "x.y": "boolean", "x.z": "any" });
  });

  test("of one that refers to itself end", () => {
    expect(factsOf({ type: "object", properties: { name: { type: "string" }, next: { $ref: "#" } } })).toEqual({ name: "string" });
  });

  test("are at most 500", () => {
    const properties = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, { type: "number" }]));
    expect(Object.keys(factsOf({ type: "object", properties }))).toHaveLength(500);
  });
});

describe("an event", () => {
  test.each<[string, unknown, string[]]>([
    ["fits", { kind: "goal", minute: 17, home: { score: 1 } }, []],
    ["lacks a field", { minute: 17 }, ["kind"]],
    ["has a value of another type", { kind: "goal", home: { score: "1" } }, ["home.score"]],
    ["has an item of another type", { kind: "goal", tags: ["a", 1] }, ["tags.1"]],
    ["has an unknown field", { kind: "goal", surprise: 1 }, ["surprise"]],
    ["has several faults", { kind: "own goal", minute: -1 }, ["kind", "minute"]],
    ["is no object", [], [""]],
  ])("that %s is told so by paths", async (_, event, paths) => {
    expect((await instanceProblems(MATCH, event)).map(({ path }) => path).sort()).toEqual(paths);
  });

  test("is held against the draft that the schema names", async () => {
    const tuple = { type: "object", properties: { a: { type: "array", items: [{ type: "string" }], additionalItems: false } } };
    const draft7 = { ...tuple, $schema: "http://json-schema.org/draft-07/schema#" };
    expect(schemaProblems(draft7)).toEqual([]);
    expect(await instanceProblems(draft7, { a: ["x", "y"] })).toHaveLength(1);
  });
});
