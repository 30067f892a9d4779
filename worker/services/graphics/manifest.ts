import { z } from "@hono/zod-openapi";
import { Failure, invalid, type Issue } from "#worker/lib/errors.ts";
import type { ZippedFile } from "#worker/lib/zip.ts";
import { wellFormedJson } from "#worker/lib/well-formed.ts";
import { dataSchemaProblems } from "./data-schema.ts";

// The manifest of an OGraf graphic (EBU OGraf, version 1).

const SCHEMA = "https://ograf.ebu.io/v1/specification/json-schemas/graphics/schema.json";
const MANIFEST = /\.ograf\.json$/;
const SCRIPT = /\.m?js$/;
const MAX_MANIFEST_BYTES = 64 * 1024;

/** An object with these fields; others must be a vendor's, whose names begin with `v_`. */
function open<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.looseObject(shape).superRefine((value, context) => {
    for (const name of Object.keys(value))
      if (!(name in shape) && !name.startsWith("v_")) context.addIssue({ code: "custom", path: [name], message: "Unknown field" });
  });
}

const Text = z.string().max(200);
const LongText = z.string().max(5_000);
const NumberConstraint = open({
  max: z.number().optional(),
  min: z.number().optional(),
  exact: z.number().optional(),
  ideal: z.number().optional(),
});
const DataSchema = z.record(z.string(), z.unknown());

const RenderRequirement = open({
  resolution: z.looseObject({ width: NumberConstraint.optional(), height: NumberConstraint.optional() }).optional(),
  frameRate: NumberConstraint.optional(),
  accessToPublicInternet: open({ exact: z.boolean().optional(), ideal: z.boolean().optional() }).optional(),
  engine: z.array(z.looseObject({ type: Text, version: z.looseObject({ min: Text }) })).optional(),
});

const Size = z.number().int().min(1);

export const Manifest = open({
  $schema: z.literal(SCHEMA),
  id: Text.refine((id) => !id.includes("/"), "Must not contain /"),
  version: Text.optional(),
  main: Text,
  name: Text,
  description: LongText.optional(),
  author: open({ name: Text, email: Text.optional(), url: z.string().max(2000).optional() }).optional(),
  customActions: z
    .array(open({ id: Text, name: Text, description: LongText.optional(), schema: DataSchema.nullable().optional() }))
    .max(100)
    .optional(),
  supportsRealTime: z.boolean(),
  supportsNonRealTime: z.boolean(),
  stepCount: z.number().min(-1).optional(),
  schema: DataSchema.optional(),
  renderRequirements: z.array(RenderRequirement).optional(),
  thumbnails: z.array(open({ file: Text, resolution: z.looseObject({ width: Size, height: Size }).optional() })).optional(),
});
export type Manifest = z.output<typeof Manifest>;

/** A graphic in an archive: its manifest, and the path of its script. */
export interface PackedGraphic {
  manifest: Manifest;
  main: string;
}

/** Finds the graphic in an archive. Throws a 400 for `field` that names what is wrong with it. */
export function findGraphic(files: readonly ZippedFile[], field: string): PackedGraphic {
  const manifests = files.filter(({ path }) => MANIFEST.test(path));
  const [found] = manifests;
  if (!found) throw invalid(field, "It contains no manifest, a file whose name ends with .ograf.json");
  if (manifests.length > 1) throw invalid(field, "It contains more than one manifest; upload each graphic on its own");
  if (found.content.byteLength > MAX_MANIFEST_BYTES) throw invalid(field, "The manifest has more than 64 kB");
  const manifest = parseManifest(found, field);
  const main = resolvePath(found.path, manifest.main);
  if (!files.some(({ path }) => path === main) || !SCRIPT.test(main))
    throw invalid(`${field}.main`, "Must be the path of a .js or .mjs file in the archive, relative to the manifest");
  return { manifest, main };
}

function parseManifest({ content }: ZippedFile, field: string): Manifest {
  const { data: manifest, error } = Manifest.safeParse(parsedJson(content, field));
  if (!manifest)
    throw problems(
      error.issues.map(({ path, message }) => ({ path: path.join("."), message })),
      field,
    );
  const actions = manifest.customActions ?? [];
  const schemas = [
    ...(manifest.schema === undefined ? [] : [{ path: "schema", schema: manifest.schema }]),
    ...actions.flatMap(({ schema }, index) => (schema ? [{ path: `customActions.${index}.schema`, schema }] : [])),
  ];
  const issues = schemas.flatMap(({ path, schema }) =>
    dataSchemaProblems(schema).map((issue) => ({ ...issue, path: issue.path === "" ? path : `${path}.${issue.path}` })),
  );
  if (new Set(actions.map(({ id }) => id)).size < actions.length)
    issues.push({ path: "customActions", message: "Each needs an id of its own" });
  if (!manifest.supportsRealTime) issues.push({ path: "supportsRealTime", message: "Only graphics that render in real time can be shown" });
  if (issues.length > 0) throw problems(issues, field);
  return manifest;
}

function parsedJson(content: Uint8Array, field: string): unknown {
  try {
    return JSON.parse(wellFormedJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(content)));
  } catch {
    throw invalid(field, "The manifest isn't JSON in UTF-8");
  }
}

function problems(issues: Issue[], field: string): Failure {
  const located = issues.map(({ path, message }) => ({ path: path === "" ? field : `${field}.${path}`, message }));
  return new Failure("invalid_request", `The manifest is invalid: ${located[0]?.message ?? ""}`, { issues: located.slice(0, 100) });
}

/** A path relative to the manifest, as one in the archive. What leads out of the archive is no file of it. */
function resolvePath(manifest: string, path: string): string {
  const base = new URL(encodePath(manifest), "archive://files/");
  const url = URL.canParse(encodePath(path), base.href) ? new URL(encodePath(path), base) : undefined;
  return url?.protocol === base.protocol && url.host === base.host ? decodeURIComponent(url.pathname.slice(1)) : "";
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** The width in CSS pixels that the graphic is laid out for: what its first requirement prefers, within its bounds. */
export function widthOf({ renderRequirements = [] }: Manifest): number {
  const { exact, ideal = 1920, min = 1, max = 7680 } = renderRequirements[0]?.resolution?.width ?? {};
  return Math.round(exact ?? Math.min(max, Math.max(min, ideal)));
}
