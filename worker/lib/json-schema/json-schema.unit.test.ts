import { describe, expect, test } from "vitest";
import { EVENT_STEPS, instanceProblems } from "#worker/integrations/json-schema.ts";
import { factsOf, schemaProblems } from "./json-schema.ts";
import { expandsTooFar, MAX_EXPANDED } from "./schema-size.ts";
import { StepBudget } from "./steps.ts";

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

/** A value nested this many levels deep. */
function nested(levels: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = around(value);
  return value;
}

describe("a schema", () => {
  test("that is valid has no problems", () => {
    expect(schemaProblems(MATCH)).toEqual([]);
    expect(schemaProblems({ type: "object", properties: { a: true, b: { anyOf: [{ type: "string" }, { $ref: "#" }] } } })).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["of another type than object", { type: "string" }, "type"],
    ["without a type", {}, "type"],
    ["with an unknown type", { type: "object", properties: { a: { type: "float" } } }, "properties.a.type"],
    ["whose properties are a list", { type: "object", properties: [] }, "properties"],
    ["with a subschema that is a string", { type: "object", properties: { a: "string" } }, "properties.a"],
    ["whose required isn't a list", { type: "object", required: "a" }, "required"],
    ["with a minimum that is a string", { type: "object", properties: { a: { minimum: "1" } } }, "properties.a.minimum"],
    ["with a pattern", { type: "object", properties: { a: { pattern: "^[a-z]+$" } } }, "properties.a.pattern"],
    ["with patternProperties", { type: "object", patternProperties: { "^x-": {} } }, "patternProperties"],
    ["with an invalid schema in a list", { type: "object", allOf: [{ type: 7 }] }, "allOf.0.type"],
    ["with a reference to another document", { type: "object", $ref: "https://schemas.example/match" }, "$ref"],
    ["with a reference to a missing schema", { type: "object", items: { $ref: "#/$defs/none" } }, "items.$ref"],
    ["with an empty enum", { type: "object", properties: { a: { enum: [] } } }, "properties.a.enum"],
    ["with a malformed reference", { type: "object", $ref: "#/%" }, "$ref"],
    [
      "with a reference to an invalid schema",
      { type: "object", properties: { a: { $ref: "#/parts/a" } }, parts: { a: { type: "a" } } },
      "parts.a.type",
    ],
    ["with a recursive reference", { type: "object", properties: { a: { $recursiveRef: "#" } } }, "properties.a.$recursiveRef"],
    ["that references itself", { type: "object", allOf: [{ $ref: "#" }] }, "allOf.0.$ref"],
    [
      "whose definitions reference each other",
      { type: "object", properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { not: { $ref: "#/$defs/c" } }, c: { $ref: "#/$defs/b" } } },
      "$defs.c.$ref",
    ],
    ["whose dependencies aren't lists", { type: "object", dependentRequired: { a: 5 } }, "dependentRequired"],
    [
      "with a format named like an inherited property",
      { type: "object", properties: { a: { format: "__defineGetter__" } } },
      "properties.a.format",
    ],
    ["with a negative count", { type: "object", minProperties: -1 }, "minProperties"],
  ])("%s is rejected with the path of the problem", (_, schema, path) => {
    expect(schemaProblems(schema).map((issue) => issue.path)).toEqual([path]);
  });

  test("that is too deep is rejected", () => {
    let schema: Record<string, unknown> = {};
    for (let depth = 0; depth < 50; depth++) schema = { properties: { a: schema } };
    expect(schemaProblems({ ...schema, type: "object" })).toHaveLength(1);
  });
});

describe("a schema that doubles with each of 40 references", () => {
  type Ref = { $ref: string };
  const doubled = (double: (ref: Ref) => Record<string, unknown>, levels = 40) => ({
    type: "object",
    $ref: `#/$defs/d${levels}`,
    $defs: Object.fromEntries(
      Array.from({ length: levels + 1 }, (_, level) => [`d${level}`, level === 0 ? {} : double({ $ref: `#/$defs/d${level - 1}` })]),
    ),
  });
  const SHAPES: [string, (ref: Ref) => Record<string, unknown>][] = [
    ["allOf", (ref) => ({ allOf: [ref, ref] })],
    ["anyOf", (ref) => ({ anyOf: [ref, ref] })],
    ["oneOf", (ref) => ({ oneOf: [ref, ref] })],
    ["not", (ref) => ({ not: ref, allOf: [ref] })],
    ["if, then and else", (ref) => ({ if: ref, then: ref, else: ref })],
    ["dependentSchemas", (ref) => ({ dependentSchemas: { a: ref, b: ref } })],
    ["dependencies", (ref) => ({ dependencies: { a: ref, b: ref } })],
    ["properties", (ref) => ({ properties: { a: ref, b: ref } })],
    ["additional and unevaluated properties", (ref) => ({ additionalProperties: ref, unevaluatedProperties: ref })],
    ["property names", (ref) => ({ propertyNames: ref, properties: { a: ref } })],
    ["items and contains", (ref) => ({ items: ref, contains: ref })],
    ["the first items", (ref) => ({ prefixItems: [ref, ref] })],
    ["unevaluated items", (ref) => ({ prefixItems: [ref], unevaluatedItems: ref })],
  ];

  test.each(SHAPES)("by %s is rejected after at most 10,000 steps", (_, double) => {
    expect(schemaProblems(doubled(double))).not.toEqual([]);
    const budget = new StepBudget(MAX_EXPANDED);
    expect(expandsTooFar(doubled(double), budget)).toBe(true);
    expect(budget.used).toBe(MAX_EXPANDED + 1);
  });

  test.each(SHAPES)("by %s costs an event no more than its budget if the schema is already stored", async (_, double) => {
    for (const event of [{ a: 1, b: 1 }, nested(30, (a) => ({ a, b: 1 })), { a: nested(30, (a) => [a, 1]) }]) {
      const budget = new StepBudget(EVENT_STEPS);
      await instanceProblems(doubled(double, 25), event, budget);
      expect(budget.used).toBeLessThan(EVENT_STEPS * 1.1);
    }
  });

  test("by few references is accepted", () => {
    for (const [, double] of SHAPES) expect(schemaProblems(doubled(double, 5))).toEqual([]);
  });

  test("with many definitions that all reference each other is rejected", () => {
    const names = Array.from({ length: 14 }, (_, number) => `d${number}`);
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
    const $defs = Object.fromEntries(names.map((name) => [name, { properties }]));
    expect(schemaProblems({ type: "object", $ref: "#/$defs/d0", $defs }).map(({ path }) => path)).toEqual(["$ref"]);
  });

  test("with more than 32 nested schemas for one value is rejected", () => {
    const chain = (levels: number) => doubled((ref) => ref, levels);
    expect(schemaProblems(chain(30))).toEqual([]);
    expect(schemaProblems(chain(1000)).map(({ message }) => message)).toEqual([expect.stringContaining("At most 32")]);
  });
});

describe("the facts of a schema", () => {
  test("are the dotted paths of its leaves, with their types", () => {
    expect(factsOf(MATCH)).toEqual({ kind: "string", minute: "number", "home.name": "string", "home.score": "number", tags: "array" });
  });

  test("include all branches, but no name with a dot", () => {
    const schema = {
      type: "object",
      properties: { "a.b": { type: "string" }, x: { oneOf: [{ properties: { y: { type: "boolean" } } }, { properties: { z: {} } }] } },
      allOf: [{ properties: { w: { const: 7 } } }],
    };
    expect(factsOf(schema)).toEqual({ w: "number", "x.y": "boolean", "x.z": "any" });
  });

  test("are finite for a recursive schema", () => {
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
    ["has several problems", { kind: "own goal", minute: -1 }, ["kind", "minute"]],
    ["isn't an object", [], [""]],
  ])("that %s gets the paths of its problems", async (_, event, paths) => {
    expect((await instanceProblems(MATCH, event)).map(({ path }) => path).sort()).toEqual(paths);
  });

  test.each<[string, Record<string, unknown>]>([
    ["an id that isn't a URL", { $id: "http://[" }],
    ["examples with ids", { properties: { a: { example: { id: "7" } }, b: { example: { id: "7" } } } }],
    ["an example with an id that isn't a URL", { example: { id: "http://[" } }],
    [
      "a part with an id and a reference from the root",
      { properties: { a: { $id: "https://a.example/", $ref: "#/$defs/a" } }, $defs: { a: {} } },
    ],
    [
      "names that the validator uses itself",
      { properties: { a: { __absolute_uri__: "x", __absolute_ref__: 5, $ref: "#/x%20y" } }, "x y": {} },
    ],
  ])("can be valid for a schema with %s", async (_, parts) => {
    const schema = { type: "object", ...parts };
    expect(schemaProblems(schema)).toEqual([]);
    expect(await instanceProblems(schema, { a: {} })).toEqual([]);
    expect(await instanceProblems({ ...schema, required: ["c"] }, { a: {} })).toHaveLength(1);
  });

  test("is validated against the target of a reference, wherever it is", async () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/parts/whole%20number" }, b: { $ref: "#" } },
      parts: { "whole number": { type: "integer" } },
    };
    expect(schemaProblems(schema)).toEqual([]);
    expect((await instanceProblems(schema, { a: "1", b: { b: { a: 0.5 } } })).map(({ path }) => path)).toEqual(["a", "b.b.a"]);
  });

  test("that costs more than its budget is rejected, whatever makes it expensive", async () => {
    const every = (schema: unknown) => ({ type: "object", additionalProperties: schema });
    const list = (length: number, item: unknown) => ({ a: Array.from({ length }, () => item) });
    const cases: [Record<string, unknown>, unknown][] = [
      [{ type: "object", allOf: [every({ $ref: "#" }), every({ $ref: "#" })] }, nested(30, (a) => ({ a }))],
      [every({ uniqueItems: true }), { a: Array.from({ length: 5000 }, (_, number) => number) }],
      [every({ uniqueItems: true }), { a: Array.from({ length: 200 }, (_, number) => [...Array.from({ length: 90 }, () => 0), number]) }],
      [every({ items: { enum: Array.from({ length: 2000 }, (_, number) => `value ${number}`) } }), list(5000, "x")],
      [every({ items: { required: Array.from({ length: 2000 }, (_, number) => `name ${number}`) } }), list(5000, {})],
      [every({ allOf: Array.from({ length: 2000 }, () => ({ maxLength: 70_000 })) }), { a: "x".repeat(60_000) }],
    ];
    for (const [schema, event] of cases) {
      expect(schemaProblems(schema)).toEqual([]);
      const budget = new StepBudget(EVENT_STEPS);
      const [issue] = await instanceProblems(schema, event, budget);
      expect(issue?.message).toContain("too many steps");
      expect(budget.used).toBeLessThan(EVENT_STEPS * 1.1);
    }
  });

  test("of 64 kB can be validated against an ordinary schema within its budget", async () => {
    const player = { type: "object", required: ["id"], properties: { id: { type: "string", maxLength: 40 }, x: { type: "number" } } };
    const schema = { type: "object", properties: { kind: { enum: ["a", "b"] }, players: { type: "array", items: player } } };
    const players = Array.from({ length: 2000 }, (_, number) => ({ id: `player-${number}`, x: number }));
    expect(await instanceProblems(schema, { kind: "a", players })).toEqual([]);
  });

  test("may have any text for a format that the validator checks too slowly", async () => {
    const schema = { type: "object", properties: { a: { format: "url" } } };
    expect(await instanceProblems(schema, { a: `http://${"a".repeat(60)}!` })).toEqual([]);
  });

  test("with thousands of problems gets the first 100", async () => {
    const event = { a: Array.from({ length: 3000 }, () => 1) };
    expect(await instanceProblems({ type: "object", additionalProperties: { items: { type: "string" } } }, event)).toHaveLength(100);
  });

  test("that is nested too deeply or has names that aren't valid Unicode is rejected", async () => {
    const nested: unknown = JSON.parse('{"b":'.repeat(50_000) + "{}" + "}".repeat(50_000));
    expect(await instanceProblems({ type: "object", properties: { b: { $ref: "#" } } }, nested)).toHaveLength(1);
    expect(await instanceProblems({ type: "object", additionalProperties: { type: "string" } }, { "\ud800": 1 })).toHaveLength(1);
  });

  test("with a name that is too long is rejected", async () => {
    const issues = await instanceProblems({ type: "object" }, { c: [{ ["x".repeat(257)]: 1 }] });
    expect(issues).toEqual([{ path: "x".repeat(40), message: "A name has at most 256 characters" }]);
  });

  test("is validated by the draft that the schema declares", async () => {
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
