import type { Field, Unit } from "./fields.ts";

/** What a form holds of a field: texts of inputs, switches, and groups and lists of these. */
export type FormValue = string | boolean | FormValue[] | { [name: string]: FormValue };
export type FormValues = Record<string, FormValue>;

const MINUTE_MS = 60_000;

/** The values with which a form starts, of a resource or of nothing. */
export function toForm(fields: readonly Field[], source: unknown): FormValues {
  const values = recordOf(source);
  return Object.fromEntries(fields.map((field) => [field.name, valueToForm(field, values[field.name])]));
}

function valueToForm(field: Field, value: unknown): FormValue {
  switch (field.kind) {
    case "switch":
      return typeof value === "boolean" ? value : field.initial;
    case "time":
      return typeof value === "number" ? localTime(value, field.unit) : "";
    case "texts":
    case "references":
      return Array.isArray(value) ? value.map(String).join("\n") : "";
    case "group":
      return toForm(field.fields, value);
    case "variant": {
      const chosen = recordOf(value)[field.discriminator.name];
      const variant = typeof chosen === "string" ? chosen : "";
      return { ...toForm(field.variants[variant] ?? [], value), [field.discriminator.name]: variant };
    }
    case "list":
      return Array.isArray(value) ? value.map((item) => valueToForm(field.item, item)) : [];
    case "json":
      return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
    default:
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
  }
}

/** The body that a form describes. `source` is what it was filled from: free objects keep what the form doesn't show. */
export function fromForm(fields: readonly Field[], values: FormValue | undefined, source: unknown = undefined): Record<string, unknown> {
  const held: Record<string, FormValue> = typeof values === "object" && !Array.isArray(values) ? values : {};
  const sources = recordOf(source);
  const entries = fields.map((field) => [field.name, valueFromForm(field, held[field.name], sources[field.name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function valueFromForm(field: Field, value: FormValue | undefined, source: unknown): unknown {
  if (field.kind === "switch") return value === true;
  if (field.kind === "texts" || field.kind === "references") return typeof value === "string" ? linesOf(value) : [];
  if (field.kind === "list") {
    const sources: unknown[] = Array.isArray(source) ? source : [];
    return Array.isArray(value) ? value.map((item, index) => valueFromForm(field.item, item, sources[index])) : [];
  }
  if (field.kind === "group") return groupFromForm(field, value, source);
  if (field.kind === "variant") {
    const chosen = typeof value === "object" && !Array.isArray(value) ? value[field.discriminator.name] : undefined;
    if (typeof chosen !== "string" || chosen === "") return empty(field);
    return { [field.discriminator.name]: chosen, ...fromForm(field.variants[chosen] ?? [], value, source) };
  }
  if (typeof value !== "string" || value.trim() === "") return empty(field);
  if (field.kind === "json") return JSON.parse(value);
  if (field.kind === "number") return Number(value);
  return field.kind === "time" ? timestamp(value, field.unit) : value;
}

/** An optional group of which nothing is filled in is left out, unless it was there; switches are as they were at first. */
function groupFromForm(field: Field & { kind: "group" }, value: FormValue | undefined, source: unknown): unknown {
  const kept = field.open ? recordOf(source) : {};
  const known = new Set(field.fields.map(({ name }) => name));
  const rest = Object.fromEntries(Object.entries(kept).filter(([name]) => !known.has(name)));
  const group = { ...rest, ...fromForm(field.fields, value, source) };
  const untouched = (inner: Field) => (inner.kind === "switch" ? group[inner.name] === inner.initial : isBlank(group[inner.name]));
  const isEmpty = !field.required && (source === undefined || source === null) && field.fields.every(untouched);
  return isEmpty ? empty(field) : group;
}

function isBlank(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.values(value).every(isBlank);
  return value === undefined || value === null || value === false;
}

function empty({ nullable, required, kind }: Field): unknown {
  if (nullable) return null;
  return required && kind === "text" ? "" : undefined;
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** As `<input type="datetime-local">` writes it, in the time zone of the browser. */
export function localTime(time: number, unit: Unit): string {
  const date = new Date(unit === "seconds" ? time * 1000 : time);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, -1);
  return local.replace(/(:00)?\.000$/, "");
}

function timestamp(text: string, unit: Unit): number {
  const time = new Date(text).getTime();
  return unit === "seconds" ? Math.floor(time / 1000) : time;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/**
 * The form's name of the field that an issue of the server is about (`contents[0].html` is `contents.0.html`), or of the closest field
 * around it. Null if the form has none.
 */
export function fieldNameOf(path: string, fields: readonly Field[]): string | null {
  const parts = path.split(/[.[\]]+/).filter((part) => part !== "");
  const found: string[] = [];
  let level: readonly Field[] = fields;
  while (parts.length > 0) {
    const [name = ""] = parts;
    const field = level.find((candidate) => candidate.name === name);
    if (!field) break;
    found.push(name);
    parts.shift();
    if (field.kind === "list" && /^\d+$/.test(parts[0] ?? "")) {
      found.push(parts.shift() ?? "");
      level = fieldsWithin(field.item);
    } else level = fieldsWithin(field);
  }
  return found.length === 0 ? null : found.join(".");
}

function fieldsWithin(field: Field): readonly Field[] {
  if (field.kind === "group") return field.fields;
  return field.kind === "variant" ? [field.discriminator, ...Object.values(field.variants).flat()] : [];
}
