import { z } from "@hono/zod-openapi";

/** A form field for a variable of a template. */
export interface Field {
  name: string;
  description: string;
  required: boolean;
  control:
    | { kind: "text"; multiline: boolean }
    | { kind: "number" }
    | { kind: "choice"; options: string[] }
    | { kind: "switch" }
    | { kind: "color" };
}

const Property = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  description: z.string().default(""),
  maxLength: z.number().optional(),
});
type Property = z.output<typeof Property>;

const Schema = z.looseObject({ properties: z.record(z.string(), Property), required: z.array(z.string()).default([]) });

// Lists of lines, such as a line-up's players, have a longer limit than any single line.
const SINGLE_LINE = 250;

/** The fields of a template, from the JSON Schema of its variables. */
export function fieldsOf(schema: Record<string, unknown>): Field[] {
  const { properties, required } = Schema.parse(schema);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    description: property.description.replaceAll("`", ""),
    required: required.includes(name),
    control: controlOf(name, property),
  }));
}

function controlOf(name: string, property: Property): Field["control"] {
  if (property.enum) return { kind: "choice", options: property.enum };
  if (property.type === "boolean") return { kind: "switch" };
  if (property.type === "integer" || property.type === "number") return { kind: "number" };
  if (name.endsWith("Color")) return { kind: "color" };
  return { kind: "text", multiline: (property.maxLength ?? 0) > SINGLE_LINE };
}
