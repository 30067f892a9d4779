import { describe, expect, test } from "vitest";
import { excerptOf } from "./excerpt.ts";
import { type Field, fieldsOf, labelOf } from "./fields.ts";
import { fieldNameOf, fromForm, toForm } from "./form-values.ts";
import type { ApiExcerpt, Schema } from "./schema.ts";

const TIME = { type: "integer", description: "Milliseconds since 1970 UTC" };
const SCHEMAS: Record<string, Schema> = {
  Thing: {
    type: "object",
    required: ["siteId", "name", "mode"],
    properties: {
      siteId: { type: "string" },
      name: { type: "string", maxLength: 200 },
      note: { type: "string", maxLength: 2000 },
      mode: { type: "string", enum: ["open", "closed"] },
      count: { type: "integer", minimum: 1, maximum: 9 },
      enabled: { type: "boolean", description: "Whether it is on. Default: `true`" },
      tags: { type: "array", items: { type: "string" } },
      schedule: { type: "object", additionalProperties: {}, properties: { start: TIME } },
      price: { type: "number", nullable: true },
      parts: { type: "array", items: { $ref: "#/components/schemas/Part" }, maxItems: 8 },
      extra: { type: "object", additionalProperties: {} },
    },
  },
  Part: {
    oneOf: [
      { type: "object", required: ["kind", "html"], properties: { kind: { type: "string", enum: ["html"] }, html: { type: "string" } } },
      { type: "object", required: ["kind"], properties: { kind: { type: "string", enum: ["image"] }, width: { type: "number" } } },
    ],
  },
};
const excerpt: ApiExcerpt = { operations: {}, schemas: SCHEMAS };
const fields = fieldsOf({ $ref: "#/components/schemas/Thing" }, excerpt);
const find = (name: string): Field | undefined => fields.find((field) => field.name === name);

describe("the fields of a form", () => {
  test("follow from the schema, without the site's id", () => {
    expect(fields.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      "name: text",
      "note: text",
      "mode: choice",
      "count: number",
      "enabled: switch",
      "tags: texts",
      "schedule: group",
      "price: number",
      "parts: list",
      "extra: json",
    ]);
    expect(find("name")).toMatchObject({ required: true, rows: 1, maxLength: 200 });
    expect(find("note")).toMatchObject({ required: false, rows: 3 });
    expect(find("enabled")).toMatchObject({ initial: true, description: "Whether it is on." });
    expect(find("schedule")).toMatchObject({ fields: [{ kind: "time", unit: "milliseconds" }] });
    expect(find("parts")).toMatchObject({ item: { kind: "variant", discriminator: { name: "kind" } } });
    expect(find("mode")).toMatchObject({
      options: [
        { value: "open", text: "Open" },
        { value: "closed", text: "Closed" },
      ],
    });
  });

  test("have labels in plain words", () => {
    expect(["responsesPerViewer", "_id", "channelIds", "panel_type", "webhookUrl"].map(labelOf)).toEqual([
      "Responses per viewer",
      "ID",
      "Channel IDs",
      "Kind of panel",
      "Webhook URL",
    ]);
  });
});

test("an id follows the choice of what it is of, in a form as in a list", () => {
  const id = { type: "string", pattern: "^[0-9a-f]{24}$" };
  const member = { type: "object", required: ["id", "schema"], properties: { id, schema: { type: "string", enum: ["video", "poll"] } } };
  const parts = fieldsOf({ type: "object", properties: { members: { type: "array", items: member } } }, excerpt);
  expect(parts).toMatchObject([
    {
      name: "members",
      item: {
        fields: [
          { name: "schema", kind: "choice" },
          { name: "id", kind: "chosenReference", by: "schema" },
        ],
      },
    },
  ]);
  const members = [{ id: "1".repeat(24), schema: "poll" }];
  expect(fromForm(parts, toForm(parts, { members }))).toEqual({ members });
});

describe("the values of a form", () => {
  const thing = {
    name: "Derby",
    note: "Two lines",
    mode: "open",
    count: 3,
    enabled: false,
    tags: ["a", "b"],
    schedule: { start: 1_795_166_400_123, unknownToTheForm: true },
    price: null,
    parts: [
      { kind: "html", html: "<b>Goal</b>" },
      { kind: "image", width: 2.5 },
    ],
    extra: { deep: [1, { x: null }] },
  };

  test("make the same body again, with what the form doesn't show", () => {
    expect(fromForm(fields, toForm(fields, thing), thing)).toEqual(thing);
  });

  test("leave out what hasn't been filled in, and set defaults", () => {
    expect(fromForm(fields, { ...toForm(fields, {}), name: "New", mode: "open" })).toEqual({
      name: "New",
      mode: "open",
      enabled: true,
      tags: [],
      price: null,
      parts: [],
    });
  });

  test("leave out a group of which only a switch is set, as it is by default", () => {
    const on = { name: "show", label: "Show", required: false, nullable: false, kind: "switch", initial: true } as const;
    const src = { name: "src", label: "Src", required: false, nullable: false, kind: "text", rows: 1, type: "text" } as const;
    const image = {
      name: "image",
      label: "Image",
      required: false,
      nullable: false,
      kind: "group",
      fields: [on, src],
      open: false,
    } as const;
    const group = { ...image, fields: [...image.fields] };
    expect(fromForm([group], { image: { show: true, src: "" } })).toEqual({});
    expect(fromForm([group], { image: { show: false, src: "" } })).toEqual({ image: { show: false } });
    expect(fromForm([group], { image: { show: true, src: "a.png" } })).toEqual({ image: { show: true, src: "a.png" } });
  });

  test("turn the lines of a text into a list", () => {
    expect(fromForm(fields, { ...toForm(fields, thing), tags: " a \n\n b" }, thing)).toMatchObject({ tags: ["a", "b"] });
  });
});

describe("an issue of the server", () => {
  test.each([
    ["name", "name"],
    ["schedule.start", "schedule.start"],
    ["parts[1].html", "parts.1.html"],
    ["parts[0]", "parts.0"],
    ["extra.deep[1].x", "extra"],
    ["siteId", null],
    ["", null],
  ])("at %s belongs to the field %s", (path, expected) => {
    expect(fieldNameOf(path, fields)).toBe(expected);
  });
});

describe("an excerpt of the OpenAPI document", () => {
  const content = (name: string) => ({ content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } });
  const document = {
    paths: {
      "/thing/v1": { post: { operationId: "createThing", requestBody: content("Thing"), responses: { 201: content("Part") } } },
      "/other/v1": { get: { operationId: "getOther", responses: { 200: content("Other") } } },
    },
    components: { schemas: { ...SCHEMAS, Other: { type: "object" } } },
  };

  test("has the operations that are named, and only the schemas that they refer to", () => {
    const found = excerptOf(document, ["createThing"]);
    expect(found.operations).toMatchObject({ createThing: { method: "POST", path: "/thing/v1" } });
    expect(Object.keys(found.schemas).sort()).toEqual(["Part", "Thing"]);
  });

  test("can't be made of an operation that doesn't exist", () => {
    expect(() => excerptOf(document, ["createThings"])).toThrow("createThings");
  });
});
