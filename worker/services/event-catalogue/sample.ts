import { z } from "@hono/zod-openapi";
import { SAMPLE_MOMENT } from "./sample-ids.ts";

/** The subset of JSON Schema that zod generates. */
const Node = z.object({
  $ref: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string()).transform((types) => (types.includes("null") ? "null" : types[0]))]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
  minimum: z.number().optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  $defs: z.record(z.string(), z.unknown()).optional(),
});
type Node = z.infer<typeof Node>;

const IS_MOMENT = /^(created|modified|dateGranted|lastLogin)$|(At|Expires)$/;

/** Values by field name, so that samples look realistic. */
const BY_NAME: Record<string, unknown> = {
  name: "Main stage",
  title: "Harbour City v Old Dock",
  slug: "main-stage",
  description: "Every match, live",
  email: "viewer@demo.example",
  sku: "season-pass",
  entitlement: "season-pass",
};

// Candidates, tried in order, for fields with a format.
const TEXTS = [
  ...[
    "5eed0000000000000000c001",
    "main-stage",
    "demo.example",
    "https://demo.example/crest.png",
    "/media/v1/5eed0000000000000000d001",
    "eur",
    "EUR",
  ],
  ...["#6e5ffb", "abc123xyz", "viewer@demo.example", "2026-11-21", "15:00", "Europe/London", "overlay:write", "*", "0".repeat(64)],
];

/** Generates a minimal value that matches a JSON Schema from zod; optional fields are omitted. */
export function sampleOf(schema: unknown, root: unknown = schema, name = ""): unknown {
  const node = Node.parse(schema);
  if (node.$ref !== undefined) return sampleOf(resolve(node.$ref, Node.parse(root)), root, name);
  if (node.const !== undefined) return node.const;
  if (node.enum) return node.enum[0];
  const choices = node.anyOf ?? node.oneOf ?? [];
  // Null can't be mistaken for a real value.
  if (choices.some((choice) => Node.parse(choice).type === "null")) return null;
  const [choice] = choices;
  if (choice !== undefined) return sampleOf(choice, root, name);
  if (node.allOf) return Object.assign({}, ...node.allOf.map((part) => sampleOf(part, root, name)));
  switch (node.type) {
    case "string":
      return textOf(node, name);
    case "integer":
    case "number":
      return IS_MOMENT.test(name) ? SAMPLE_MOMENT : Math.max(node.minimum ?? 1, 1);
    case "boolean":
      return true;
    case "array":
      return Array.from({ length: node.minItems ?? 0 }, () => sampleOf(node.items ?? {}, root));
    case "object":
      return Object.fromEntries((node.required ?? []).map((field) => [field, sampleOf(node.properties?.[field] ?? {}, root, field)]));
    default:
      return node.type === "null" ? null : "";
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = Infinity }: Node, name: string): string {
  const byName = BY_NAME[name];
  const candidates = [
    byName,
    ...(format === "email" ? ["viewer@demo.example"] : []),
    ...(format === "uri" ? ["https://demo.example/"] : []),
    wordsOf(name),
    ...TEXTS,
  ];
  const fits = (text: unknown): text is string =>
    typeof text === "string" &&
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern).test(text)) &&
    (format !== "uri" || text.startsWith("https:")) &&
    (format !== "email" || text.includes("@"));
  return candidates.find(fits) ?? "";
}

/** The words of a field's name, as text that can't be mistaken for an id or URL. */
function wordsOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/_/g, " ");
  return words.trim().replace(/^./, (letter) => letter.toUpperCase());
}

function resolve(ref: string, root: Node): unknown {
  return ref === "#" ? root : root.$defs?.[ref.replace("#/$defs/", "")];
}
