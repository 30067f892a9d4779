import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ServerFrame, ViewerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import { asyncApiDocument } from "./asyncapi.ts";
import { framesOf } from "./protocol-schemas.ts";
import { ROOT } from "./root.mjs";

const published: unknown = JSON.parse(readFileSync(join(ROOT, "docs/public/asyncapi.json"), "utf8"));

/** Every `$ref` at any depth. */
function refsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "$ref" && typeof inner === "string" ? [inner] : refsIn(inner)));
}

/** What a local `$ref` points to. */
function resolve(ref: string): unknown {
  const steps = ref
    .replace(/^#\//, "")
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce<unknown>(
    (value, step) => (typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined),
    published,
  );
}

test("the published document matches the schemas", () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(asyncApiDocument())));
});

test("every $ref resolves within the document", () => {
  const refs = [...new Set(refsIn(published))];
  expect(refs.length).toBeGreaterThan(20);
  expect(refs.filter((ref) => resolve(ref) === undefined)).toEqual([]);
});

test.each([
  ["receive", "ServerFrame", ServerFrame],
  ["send", "ViewerFrame", ViewerFrame],
] as const)("its operation to %s has every frame of %s, each with a named schema of its type", (operation, union, schema) => {
  const frames = framesOf(union);
  expect(frames.map(({ type }) => type).sort()).toEqual(schema.options.map(({ shape }) => shape.type.value).sort());
  expect(asyncApiDocument().operations[operation].messages).toHaveLength(frames.length);
  for (const { name, type } of frames) {
    expect(name).toMatch(/^[A-Z]/);
    expect(resolve(`#/channels/channel/messages/${name}`)).toMatchObject({ name: type, payload: { $ref: `#/components/schemas/${name}` } });
    expect(resolve(`#/components/schemas/${name}/properties/type`)).toMatchObject({ const: type });
  }
});
