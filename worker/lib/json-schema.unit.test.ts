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
    ["with a reference that can't be read", { type: "object", $ref: "#/%" }, "$ref"],
    [
      "with a reference to what is no schema",
      { type: "object", properties: { a: { $ref: "#/parts/a" } }, parts: { a: { type: "a" } } },
      "parts.a.type",
    ],
    [
      "with a reference by what was passed before",
      { type: "object", properties: { a: { $recursiveRef: "#" } } },
      "properties.a.$recursiveRef",
    ],
    ["that is itself once more", { type: "object", allOf: [{ $ref: "#" }] }, "allOf.0.$ref"],
    [
      "whose parts stand for each other",
      { type: "object", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { not: { $ref: "#/$defs/c" } }, c: { $ref: "#/$defs/b" } } },
      "$defs.c.$ref",
    ],
    ["whose dependencies are no lists", { type: "object", dependentRequired: { a: 5 } }, "dependentRequired"],
    ["with a format that all objects have", { type: "object", properties: { a: { format: "__defineGetter__" } } }, "properties.a.format"],
    [
      "with a pattern that some texts keep busy for ever",
      { type: "object", properties: { a: { pattern: "^(a+)+$" } } },
      "properties.a.pattern",
    ],
    ["with such a pattern of names", { type: "object", patternProperties: { "^(a|a)*$": {} } }, "patternProperties.^(a|a)*$"],
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

  test.each<[string, Record<string, unknown>]>([
    ["an id that is no address", { $id: "http://[" }],
    ["examples with ids", { properties: { a: { example: { id: "7" } }, b: { example: { id: "7" } } } }],
    ["an example with an id that is no address", { example: { id: "http://[" } }],
    [
      "a part with an id and a reference from the root",
      { properties: { a: { $id: "https://a.example/", $ref: "#/$defs/a" } }, $defs: { a: {} } },
    ],
    [
      "names that the validator uses itself",
      { properties: { a: { __absolute_uri__: "x", __absolute_ref__: 5, $ref: "#/x%20y" } }, "x y": {} },
    ],
  ])("fits a schema with %s", async (_, parts) => {
    const schema = { type: "object", ...parts };
    expect(schemaProblems(schema)).toEqual([]);
    expect(await instanceProblems(schema, { a: {} })).toEqual([]);
    expect(await instanceProblems({ ...schema, required: ["c"] }, { a: {} })).toHaveLength(1);
  });

  test("is held against what a reference leads to, wherever it stands", async () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/parts/whole%20number" }, b: { $ref: "#" } },
      parts: { "whole number": { type: "integer" } },
    };
    expect(schemaProblems(schema)).toEqual([]);
    expect((await instanceProblems(schema, { a: "1", b: { b: { a: 0.5 } } })).map(({ path }) => path)).toEqual(["a", "b.b.a"]);
  });

  test("that is nested deeper than can be followed, or has names that are no text, is refused", async () => {
    const nested: unknown = JSON.parse('{"b":'.repeat(50_000) + "{}" + "}".repeat(50_000));
    expect(await instanceProblems({ type: "object", properties: { b: { $ref: "#" } } }, nested)).toHaveLength(1);
    expect(await instanceProblems({ type: "object", additionalProperties: { type: "string" } }, { "\ud800": 1 })).toHaveLength(1);
  });

  test("has only short texts and names held against patterns", async () => {
    const a = { pattern: "^a+$", allOf: [{ minLength: 2 }] };
    const schema = { type: "object", properties: { a, b: { type: "string" } }, patternProperties: { "^x": { type: "number" } } };
    expect(schemaProblems(schema)).toEqual([]);
    const pathsOf = async (event: unknown) => (await instanceProblems(schema, event)).map(({ path, message }) => [path, message]);
    expect(await pathsOf({ a: "aa", b: "b".repeat(257), x: 1 })).toEqual([]);
    expect(await pathsOf({ a: "ab", x: "1" })).toEqual([
      ["a", "String does not match pattern."],
      ["x", expect.stringContaining("type")],
    ]);
    expect(await pathsOf({ a: "a" })).toEqual([["a", expect.stringContaining("short")]]);
    expect(await pathsOf({ a: "a".repeat(257) })).toEqual([["a", expect.stringContaining("long")]]);
    expect(await pathsOf({ c: [{ ["x".repeat(257)]: 1 }] })).toEqual([["x".repeat(40), "A name has at most 256 characters"]]);
  });

  test("is held against the draft that the schema names", async () => {
    const tuple = { type: "object", properties: { a: { type: "array", items: [{ type: "string" }], additionalItems: false } } };
    const draft7 = { ...tuple, $schema: "http://json-schema.org/draft-07/schema#" };
    expect(schemaProblems(draft7)).toEqual([]);
    expect(await instanceProblems(draft7, { a: ["x", "y"] })).toHaveLength(1);
    const dependent = { ...draft7, dependencies: { a: ["b"], b: { required: ["c"] } } };
    expect(schemaProblems(dependent)).toEqual([]);
    expect((await instanceProblems(dependent, { a: [] })).map(({ message }) => message)).toHaveLength(1);
    expect((await instanceProblems(dependent, { b: 1 })).map(({ path }) => path)).toContain("c");
  });
});
