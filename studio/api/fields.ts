import { type ApiExcerpt, resolve, type Schema } from "./schema.ts";

interface Common {
  /** Property of the object that the field is in. */
  name: string;
  label: string;
  description?: string;
  required: boolean;
  nullable: boolean;
}

export type Unit = "seconds" | "milliseconds";

/** A field of a form, as the API's schema describes it. */
export type Field = Common &
  (
    | { kind: "text"; rows: number; type: "text" | "email"; maxLength?: number; minLength?: number; pattern?: string }
    | { kind: "number"; integer: boolean; minimum?: number; maximum?: number }
    | { kind: "time"; unit: Unit }
    | { kind: "switch"; initial: boolean }
    | { kind: "choice"; options: string[] }
    /** Texts, one a line. */
    | { kind: "texts" }
    | { kind: "group"; fields: Field[]; open: boolean }
    /** Objects of which one property says what the others are. */
    | { kind: "variant"; discriminator: Field; variants: Record<string, Field[]> }
    | { kind: "list"; item: Field; maxItems: number }
    /** What no form can show: free objects. */
    | { kind: "json" }
  );

const LONG_TEXT = 500;

/** Sorts fields: those of `first` in its order, the others as they are, free objects last. */
export function sortFields(fields: readonly Field[], first: readonly string[] = []): Field[] {
  const rank = ({ name, kind }: Field) => (first.includes(name) ? first.indexOf(name) : first.length + (kind === "json" ? 1 : 0));
  return [...fields].sort((one, other) => rank(one) - rank(other));
}

/** The fields of a body. `hidden` names properties that Studio sets itself. */
export function fieldsOf(schema: Schema, excerpt: ApiExcerpt, hidden: readonly string[] = []): Field[] {
  const { properties = {}, required = [] } = resolve(schema, excerpt);
  return Object.entries(properties)
    .filter(([name]) => name !== "siteId" && !hidden.includes(name))
    .map(([name, property]) => fieldOf(name, property, required.includes(name), excerpt));
}

function fieldOf(name: string, declared: Schema, required: boolean, excerpt: ApiExcerpt): Field {
  const schema = resolve(declared, excerpt);
  const description = helpOf(schema.description);
  const common = { name, label: labelOf(name), required, nullable: schema.nullable === true, ...(description !== "" && { description }) };
  const variants = variantsOf(schema, excerpt);
  if (variants) return { ...common, kind: "variant", ...variants };
  if (schema.oneOf || schema.anyOf) return { ...common, kind: "json" };
  const unit = unitOf(schema);
  if (unit) return { ...common, kind: "time", unit };
  switch (schema.type) {
    case "string":
      return schema.enum ? { ...common, kind: "choice", options: textsIn(schema.enum) } : { ...common, ...textField(schema) };
    case "integer":
    case "number":
      return { ...common, kind: "number", integer: schema.type === "integer", minimum: schema.minimum, maximum: schema.maximum };
    case "boolean":
      return { ...common, kind: "switch", initial: defaultOf(schema.description) === true };
    case "array":
      return listField(common, schema, excerpt);
    case "object":
      return Object.keys(schema.properties ?? {}).length === 0 ? { ...common, kind: "json" } : groupField(common, schema, excerpt);
    default:
      return { ...common, kind: "json" };
  }
}

/** In a group that may be left out, nothing is required: the server knows what belongs together. */
function groupField(common: Common, schema: Schema, excerpt: ApiExcerpt): Field {
  const fields = sortFields(fieldsOf(schema, excerpt)).map((field) => (common.required ? field : { ...field, required: false }));
  return { ...common, kind: "group", fields, open: schema.additionalProperties !== false };
}

function textField({ maxLength, minLength, pattern, format }: Schema) {
  const rows = (maxLength ?? 0) > 10_000 ? 10 : (maxLength ?? 0) > LONG_TEXT && pattern === undefined && format === undefined ? 3 : 1;
  return { kind: "text", rows, type: format === "email" ? "email" : "text", maxLength, minLength, pattern } as const;
}

function listField(common: Common, { items = {}, maxItems = 1000 }: Schema, excerpt: ApiExcerpt): Field {
  const item = fieldOf("item", items, true, excerpt);
  if (item.kind === "text" || item.kind === "choice") return { ...common, kind: "texts" };
  return item.kind === "group" || item.kind === "variant" ? { ...common, kind: "list", item, maxItems } : { ...common, kind: "json" };
}

/** Alternatives are told apart by a property with one value in each, such as `kind` or `panel_type`. */
function variantsOf(schema: Schema, excerpt: ApiExcerpt): { discriminator: Field; variants: Record<string, Field[]> } | undefined {
  const alternatives = (schema.oneOf ?? []).map((alternative) => resolve(alternative, excerpt));
  const [first] = alternatives;
  if (!first || alternatives.length < 2) return undefined;
  const name = Object.keys(first.properties ?? {}).find((property) =>
    alternatives.every((alternative) => alternative.properties?.[property]?.enum?.length === 1),
  );
  if (name === undefined) return undefined;
  const variants: Record<string, Field[]> = {};
  for (const alternative of alternatives) {
    for (const value of textsIn(alternative.properties?.[name]?.enum ?? [])) variants[value] = fieldsOf(alternative, excerpt, [name]);
  }
  const options = Object.keys(variants);
  return { discriminator: { name, label: labelOf(name), required: true, nullable: false, kind: "choice", options }, variants };
}

function unitOf({ type, description = "" }: Schema): Unit | undefined {
  if (type !== "integer" && type !== "number") return undefined;
  if (/milliseconds since 1970/i.test(description)) return "milliseconds";
  if (/unix time in seconds|seconds since 1970/i.test(description)) return "seconds";
  // Some times are described by what happens then.
  return undefined;
}

function textsIn(values: unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}

/** "responsesPerViewer" becomes "Responses per viewer". */
export function labelOf(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_.]+/g, " ")
    .trim()
    .toLowerCase()
    .replaceAll(/\b(id|ids|url|html|seo|sku|cta)\b/g, (word) => (word === "ids" ? "IDs" : word.toUpperCase()));
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The description without what only a developer needs. */
function helpOf(description = ""): string {
  return description
    .replaceAll(/\s*Default: `[^`]*`/g, "")
    .replaceAll("`", "")
    .replace(/^(Milliseconds|UNIX time in seconds|Seconds) since 1970 UTC;?\s*/i, "")
    .trim();
}

function defaultOf(description = ""): unknown {
  const [, text] = /Default: `([^`]*)`/.exec(description) ?? [];
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
