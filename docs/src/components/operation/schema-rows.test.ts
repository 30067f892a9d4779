import { expect, test } from "vitest";
import { noteOf, rowsOf, typeOf } from "./schema-rows.ts";

test("lists an object's fields, each before its own fields", () => {
  const answer = { type: "object", properties: { text: { type: "string", maxLength: 200 } }, required: ["text"] };
  const rows = rowsOf({ type: "object", properties: { answers: { type: "array", items: answer, maxItems: 20 } } });
  expect(rows.map(({ path, depth, type, required, constraints }) => [path, depth, type, required, ...constraints])).toEqual([
    ["answers", 0, "list of object", false, "at most 20 entries"],
    ["answers[].text", 1, "string", true, "at most 200 characters"],
  ]);
});

test("names each variant after the values that distinguish it", () => {
  const variant = (kind: string, field: string) => ({
    type: "object",
    properties: { kind: { type: "string", enum: [kind] }, [field]: { type: "string" } },
  });
  const rows = rowsOf({ oneOf: [variant("html", "html"), variant("rive", "mediaId")] });
  expect(rows.map(({ name, depth }) => [name, depth])).toEqual([
    ["kind `html`", 0],
    ["kind", 1],
    ["html", 1],
    ["kind `rive`", 0],
    ["kind", 1],
    ["mediaId", 1],
  ]);
});

test("stops at a recursive type", () => {
  const folder: Parameters<typeof rowsOf>[0] = { type: "object", properties: {} };
  folder.properties = { children: { type: "array", items: folder } };
  expect(rowsOf(folder)).toHaveLength(1);
});

test("shows null for a field that can only be null", () => {
  expect(typeOf({ nullable: true, description: "Not yet" })).toBe("null");
  expect(typeOf({ nullable: true, type: "integer" })).toBe("integer or null");
});

test("joins a field's description and constraints", () => {
  expect(noteOf("The site.", ["at most 5 characters"])).toBe("The site · at most 5 characters");
  expect(noteOf("", [])).toBe("");
});
