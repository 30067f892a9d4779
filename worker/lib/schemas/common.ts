import { z } from "@hono/zod-openapi";
import { ID_PATTERN } from "#worker/lib/ids.ts";

// Schemas shared by all areas.

export const Id = z.string().regex(ID_PATTERN, "24 lowercase hex characters").openapi({ example: "5eed0000000000000000c001" });
export const IdParam = z.object({ id: Id });

/** A time in milliseconds since 1970 UTC. */
export const Time = z.number().int().describe("Milliseconds since 1970 UTC").openapi({ example: 1795166400000 });

const NUMERAL = /^-?\d{1,15}(\.\d{1,9})?$/;

/** A number in a query, in decimal digits only: JavaScript would also parse " ", "0x5" and "1e2". */
export function fromQuery<T extends z.ZodType<unknown, number | undefined>>(schema: T) {
  return z.preprocess((text) => (typeof text === "string" && NUMERAL.test(text) ? Number(text) : text), schema);
}

export const Tracked = { created: Time, modified: Time };

/** Identifies a product: a subscription of the site or of another system. */
export const Sku = z.string().min(1).max(100).openapi({ example: "season-pass" });

/** The target of a link. */
export const LinkUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .openapi({ example: "https://demo.example/rules" });

/** An image URL: https, because https pages load it, or an uploaded file. */
export const ImageUrl = z
  .string()
  .max(2000)
  .regex(/^(https:\/\/[^\s/]+(\/\S*)?|\/media\/v1\/[0-9a-f]{24})$/, "An https URL, or the /media/v1/{id} of an uploaded file")
  .refine((url) => url.startsWith("/") || URL.canParse(url), "Not a valid URL")
  .openapi({ example: "https://demo.example/crest.png" });

export const Tags = z.array(z.string().min(1).max(100)).max(200);

/** Limits free-form JSON to 10 levels (checked first, so that measuring its size is safe) and 64 kB. */
export function bounded<T extends z.ZodType>(schema: T): T {
  return schema
    .refine((value) => !isDeeper(value, 10), { message: "At most 10 levels deep", abort: true })
    .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= 64 * 1024, "At most 64 kB of JSON");
}

/** Free-form JSON in a known field. */
export const FreeObject = bounded(z.record(z.string(), z.unknown()));

// Stops at the limit: a body may be nested deeper than the stack allows.
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** The response to a delete. */
export const Deleted = z.object({ success: z.literal(true), _id: Id }).openapi("Deleted");

export function deleted(row: { id: string }) {
  return { success: true, _id: row.id } satisfies z.output<typeof Deleted>;
}

/** A required JSON body. */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { required: true as const, content: { "application/json": { schema } } };
}

/** An optional JSON body. */
export function optionalJsonBody<T extends z.ZodType>(schema: T) {
  return { required: false as const, content: { "application/json": { schema } } };
}

/** A JSON response. */
export function json<T extends z.ZodType>(description: string, schema: T) {
  return { description, content: { "application/json": { schema } } };
}

/** The same for a response that is generated as text while it is read, whose type isn't checked against the schema. */
export function streamedJson(
  description: string,
  schema: z.ZodType,
): { description: string; content: Record<string, { schema: z.ZodType }> } {
  return json(description, schema);
}

/** A boolean in a query string. */
export const QueryBoolean = z
  .enum(["true", "false"])
  .transform((value) => value === "true")
  .openapi({ type: "boolean" });

/** A parameter with several comma-separated values; duplicates are dropped. */
export function commaSeparated<T extends z.ZodType<string, string>>(item: T, max: number, example: string) {
  return z
    .string()
    .max(8192)
    .transform((text) => [...new Set(text.split(","))])
    .pipe(z.array(item).max(max))
    .openapi({ type: "string", example });
}

/** A query parameter with JSON of the given shape; has room for 300 ids, however a client formats its lists. */
export function queryJson<T extends z.ZodType>(schema: T) {
  return z
    .string()
    .max(16_384)
    .transform((text, issues): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        issues.addIssue({ code: "custom", message: "Must be JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema)
    .openapi({ type: "string" });
}

/** A named schema or null. A plain `.nullable()` would make the component itself nullable everywhere. */
export function orNull<T extends z.ZodType>(schema: T) {
  return z.lazy(() => schema).nullable();
}
