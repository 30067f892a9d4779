import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { excerptOf } from "#studio/api/excerpt.ts";
import { type Field, fieldsOf } from "#studio/api/fields.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { RESOURCES } from "./definitions.ts";
import { readPage } from "./reference-options.ts";

interface Placed {
  path: string;
  field: Field;
}

function below(field: Field, path: string): Placed[] {
  const here = `${path}.${field.name}`;
  switch (field.kind) {
    case "group":
      return [{ path: here, field }, ...field.fields.flatMap((inner) => below(inner, here))];
    case "list":
      return [{ path: here, field }, ...below(field.item, here)];
    case "variant":
      return [
        { path: here, field },
        ...below(field.discriminator, here),
        ...Object.entries(field.variants).flatMap(([name, fields]) => fields.flatMap((inner) => below(inner, `${here}<${name}>`))),
      ];
    default:
      return [{ path: here, field }];
  }
}

const document: unknown = JSON.parse(readFileSync(join(ROOT, "docs/public/openapi.json"), "utf8"));
const FORMS = RESOURCES.flatMap(({ path, operations, hidden }) =>
  [operations.create, operations.update].flatMap((operationId) => {
    if (operationId === undefined) return [];
    const excerpt = excerptOf(document, [operationId]);
    const fields = fieldsOf(excerpt.operations[operationId]?.body ?? {}, excerpt, hidden);
    return fields.flatMap((field) => below(field, `${path} ${operationId}`));
  }),
);

/** Written as in code: camelCase, snake_case or with a first letter that is small. */
const RAW = /[a-z][A-Z]|_|^[a-z]|^\s*$/;
describe("every generated form", () => {
  test("has fields", () => {
    expect(FORMS.length).toBeGreaterThan(400);
  });

  test("has a label in words for each of its fields", () => {
    const raw = FORMS.filter(({ field }) => RAW.test(field.label) || /timestamp|renderer|\barray\b|\bskus\b/i.test(field.label));
    expect(raw.map(({ path, field }) => `${path}: ${field.label}`)).toEqual([]);
  });

  test("has no help that is about requests and responses", () => {
    const helped = FORMS.filter(({ field }) => /omitted|\bnull\b|returned|\bskus\b/i.test(field.description ?? ""));
    expect(helped.map(({ path, field }) => `${path}: ${field.description ?? ""}`)).toEqual([]);
  });

  test("has no two fields of the same name beside each other", () => {
    const labels = FORMS.map(({ path, field }) => `${path.slice(0, path.lastIndexOf("."))}: ${field.label}`);
    const places = FORMS.map(({ path, field }) => `${path}: ${field.label}`);
    const twice = labels.filter((label, index) =>
      labels.some((other, at) => at < index && other === label && places[at] !== places[index]),
    );
    expect([...new Set(twice)]).toEqual([]);
  });

  test("has its choices in words", () => {
    const choices = FORMS.flatMap(({ path, field }) =>
      field.kind === "choice" ? field.options.map((option) => ({ path, ...option })) : [],
    );
    expect(choices.length).toBeGreaterThan(50);
    expect(choices.filter(({ text }) => RAW.test(text)).map(({ path, text }) => `${path}: ${text}`)).toEqual([]);
    for (const { path, field } of FORMS) {
      const texts = field.kind === "choice" ? field.options.map(({ text }) => text) : [];
      expect(new Set(texts).size, path).toBe(texts.length);
    }
  });

  test("asks for no id of something that has a name", () => {
    const ids = FORMS.filter(({ field }) => field.kind === "text" && field.pattern === "^[0-9a-f]{24}$");
    expect(ids.map(({ path }) => path)).toEqual([]);
    const references = FORMS.filter(({ field }) => field.kind === "reference" || field.kind === "references");
    expect(references.length).toBeGreaterThan(20);
  });

  test("has no help in the words of code", () => {
    const coded = FORMS.filter(({ field }) => /`|since 1970|\b[a-z]+[A-Z]\w*|\b[a-z]+_[a-z]+/.test(field.description ?? ""));
    expect(coded.map(({ path, field }) => `${path}: ${field.description ?? ""}`)).toEqual([]);
  });
});

test("things of every list are called by their names", () => {
  const item = (fields: object) => ({ _id: "1".repeat(24), ...fields });
  const listed = (data: unknown) => readPage(data, "pages").options.map(({ text }) => text);
  const results = [
    { data: { name: "Main" }, slug: "main" },
    { renderer: { panel_name: "Chat" } },
    { name: "Menu" },
    { title: "Final" },
    { fileName: "a.png" },
    {},
  ];
  expect(listed({ results: results.map(item) })).toEqual(["Main", "Chat", "Menu", "Final", "a.png", "1".repeat(24)]);
  expect(listed({ themes: [item({ name: "Night" })], totalCount: 1 })).toEqual(["Night"]);
  expect(listed({ templates: [item({ title: "Match" })], totalCount: 2 })).toEqual(["Match"]);
  expect(readPage({ results: [item({ name: "Season", sku: "season" })], pagination: { totalCount: 3 } }, "subscriptions")).toEqual({
    options: [{ value: "season", text: "Season" }],
    hasMore: true,
  });
  expect(readPage(null, "pages")).toEqual({ options: [], hasMore: false });
});
