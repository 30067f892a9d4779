import { requiredOf, type Template } from "./model.ts";

/** A variable of a template, as its form asks for it. */
export interface KitField {
  name: string;
  label: string;
  description: string;
  required: boolean;
  kind: "text" | "lines" | "number" | "score" | "switch" | "choice" | "color" | "image" | "time" | "poll";
  options: readonly string[];
  maxLength?: number;
}

/** The fields of a template, those that it requires first; the look comes last. */
export function fieldsOf(template: Template): KitField[] {
  const properties = recordOf(template.variables.properties);
  const required = requiredOf(template);
  const fields = Object.entries(properties).map(([name, schema]) => fieldOf(name, recordOf(schema), required.includes(name)));
  return fields.sort((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ name, required }: KitField): number {
  if (required) return 0;
  return name === "accentColor" || name === "look" ? 2 : 1;
}

function fieldOf(name: string, schema: Record<string, unknown>, required: boolean): KitField {
  const { maxLength } = schema;
  return {
    ...{ name, required, kind: kindOf(name, schema) },
    label: labelOf(name),
    description: typeof schema.description === "string" ? schema.description.replaceAll("`", "") : "",
    options: Array.isArray(schema.enum) ? schema.enum.filter((option) => typeof option === "string") : [],
    ...(typeof maxLength === "number" && { maxLength }),
  };
}

function kindOf(name: string, { type, anyOf, pattern, maxLength, description, ...schema }: Record<string, unknown>): KitField["kind"] {
  if (Array.isArray(anyOf)) return "score";
  if (Array.isArray(schema.enum)) return "choice";
  if (type === "boolean") return "switch";
  if (type === "integer" || type === "number") return String(description).includes("milliseconds since 1970") ? "time" : "number";
  if (name === "pollId") return "poll";
  if (typeof pattern === "string") return pattern.startsWith("^#") ? "color" : "image";
  return typeof maxLength === "number" && maxLength >= 500 ? "lines" : "text";
}

/** "homeName" → "Home name". */
export function labelOf(name: string): string {
  const words = name.replace(/Id$/, "").replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What was typed, as the template wants it. A text with a placeholder stays a text. */
export function parsed(kind: KitField["kind"], text: string): string | number | boolean {
  if (text === "" || text.includes("{{")) return text;
  if (kind === "switch") return text === "true";
  if (kind === "time") return Number.isNaN(Date.parse(text)) ? text : Date.parse(text);
  const isNumber = kind === "number" ? /^-?\d+(\.\d+)?$/ : kind === "score" ? /^\d+$/ : null;
  return isNumber?.test(text.trim()) ? Number(text) : text;
}

/** A time as the browser's own field has it: local, to the minute. */
export function localTime(time: number): string {
  const at = new Date(time);
  return new Date(time - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
