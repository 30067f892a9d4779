import { z } from "@hono/zod-openapi";

/** A form field for a variable of a template. */
export interface Field {
  name: string;
  description: string;
  required: boolean;
  control:
    | { kind: "text"; multiline: boolean; orNumber?: true }
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

/** The type of a field's values, as a reader of the documentation knows it. */
export function typeOf({ name, control }: Field): string {
  switch (control.kind) {
    case "choice":
      return control.options.join(", ");
    case "switch":
      return "true or false";
    case "number":
      return "number";
    case "color":
      return "colour, such as #0b5fff";
    case "text":
      if (/(Crest|image)$/.test(name)) return "URL";
      return control.orNumber ? "number or text" : "text";
  }
}

function controlOf(name: string, property: Property): Field["control"] {
  if (property.enum) return { kind: "choice", options: property.enum };
  if (property.type === "boolean") return { kind: "switch" };
  if (property.type === "integer" || property.type === "number") return { kind: "number" };
  if (name.endsWith("Color")) return { kind: "color" };
  // Only a union has no type of its own.
  return { kind: "text", multiline: (property.maxLength ?? 0) > SINGLE_LINE, ...(property.type === undefined && { orNumber: true }) };
}
