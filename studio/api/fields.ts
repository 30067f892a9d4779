import { isId, referenceByChoice, type ReferenceKind, referenceOf } from "./references.ts";
import { type ApiExcerpt, resolve, type Schema } from "./schema.ts";
import { choiceText, helpOf, labelOf } from "./words.ts";

export { labelOf } from "./words.ts";

interface Common {
  /** Property of the object that the field is in. */
  name: string;
  label: string;
  description?: string;
  required: boolean;
  nullable: boolean;
}

export type TextType = "text" | "email" | "url" | "color";

export interface Choice {
  value: string;
  text: string;
}

export type Unit = "seconds" | "milliseconds";

/** A field of a form, as the API's schema describes it. */
export type Field = Common &
  (
    | { kind: "text"; rows: number; type: TextType; maxLength?: number; minLength?: number; pattern?: string }
    | { kind: "number"; integer: boolean; minimum?: number; maximum?: number }
    | { kind: "time"; unit: Unit }
    | { kind: "switch"; initial: boolean }
    | { kind: "choice"; options: Choice[] }
    /** Something that is chosen by its name. */
    | { kind: "reference"; to: ReferenceKind }
    /** Something of the kind that the choice of this name says. */
    | { kind: "chosenReference"; by: string }
    /** Several of them, in order: their ids, one a line. */
    | { kind: "references"; to: ReferenceKind }
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
export function fieldsOf(schema: Schema, excerpt: ApiExcerpt, hidden: readonly string[] = [], owner = ""): Field[] {
  const { properties = {}, required = [] } = resolve(schema, excerpt);
  const fields = Object.entries(properties)
    .filter(([name]) => name !== "siteId" && !hidden.includes(name))
    .map(([name, property]) => fieldOf(name, property, required.includes(name), excerpt, owner));
  return withChosenReference(fields);
}

/** An id of something of any kind follows the choice of its kind. */
function withChosenReference(fields: Field[]): Field[] {
  const choice = fields.find(
    (field) => field.kind === "choice" && field.options.some(({ value }) => referenceByChoice(value) !== undefined),
  );
  const id = fields.find((field) => field.name === "id" && field.kind === "text" && isId(field));
  if (!choice || id?.kind !== "text") return fields;
  const { name, label, required, nullable, description } = id;
  const reference: Field = {
    name,
    label,
    required,
    nullable,
    ...(description !== undefined && { description }),
    kind: "chosenReference",
    by: choice.name,
  };
  return [choice, reference, ...fields.filter((field) => field !== choice && field !== id)];
}

function fieldOf(name: string, declared: Schema, required: boolean, excerpt: ApiExcerpt, owner = ""): Field {
  const schema = resolve(declared, excerpt);
  const description = helpOf(name, schema.description);
  const common = { name, label: labelOf(name), required, nullable: schema.nullable === true, ...(description !== "" && { description }) };
  const variants = variantsOf(schema, excerpt);
  if (variants) return { ...common, kind: "variant", ...variants };
  if (schema.oneOf || schema.anyOf) return { ...common, kind: "json" };
  const unit = unitOf(schema);
  if (unit) return { ...common, kind: "time", unit };
  switch (schema.type) {
    case "string":
      if (schema.enum) return { ...common, kind: "choice", options: choicesOf(textsIn(schema.enum), name, owner) };
      return { ...common, ...(referenceField(name, schema) ?? textField(name, schema)) };
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
  const fields = sortFields(fieldsOf(schema, excerpt, [], common.name)).map((field) =>
    common.required ? field : { ...field, required: false },
  );
  return { ...common, kind: "group", fields, open: schema.additionalProperties !== false };
}

function choicesOf(values: readonly string[], name: string, owner: string): Choice[] {
  return values.map((value) => ({ value, text: choiceText(value, name, owner) }));
}

function referenceField(name: string, schema: Schema) {
  const to = referenceOf(name, schema);
  return to && ({ kind: "reference", to } as const);
}

function textField(name: string, schema: Schema) {
  const { maxLength, minLength, pattern, format } = schema;
  const rows = (maxLength ?? 0) > 10_000 ? 10 : (maxLength ?? 0) > LONG_TEXT && pattern === undefined && format === undefined ? 3 : 1;
  return { kind: "text", rows, type: textType(name, schema), maxLength, minLength, pattern } as const;
}

function textType(name: string, { pattern = "", format }: Schema): TextType {
  if (format === "email") return "email";
  if (/^\^#.*\[0-9a-fA-F\]/.test(pattern)) return "color";
  return format === "uri" || /(^|_)url$|Url$/.test(name) ? "url" : "text";
}

function listField(common: Common, { items = {}, maxItems = 1000 }: Schema, excerpt: ApiExcerpt): Field {
  const to = referenceOf(common.name, resolve(items, excerpt));
  if (to) return { ...common, kind: "references", to };
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
  const options = choicesOf(Object.keys(variants), name, "");
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

function defaultOf(description = ""): unknown {
  const [, text] = /Default: `([^`]*)`/.exec(description) ?? [];
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
