import { z } from "@hono/zod-openapi";

// A property with a default is optional in a request and always present in a response. OpenAPI has one `required` list per
// schema, so a schema that is used both ways and has defaults becomes two: `Name` for responses, `NameInput` for requests.

type Direction = "request" | "response";
type Schema = Record<string, unknown>;

const PREFIX = "#/components/schemas/";

const Operation = z.looseObject({
  parameters: z.array(z.unknown()).optional(),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.unknown()),
});
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
});

/** Keywords whose values contain schemas: a map, a list, or a single one. */
const MAPS = new Set(["properties"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf"]);
const SINGLES = new Set(["items", "additionalProperties", "not"]);

/** The document with each schema adapted to its direction. */
export function splitDirections(input: unknown): z.infer<typeof Document> {
  const document = Document.parse(input);
  const { schemas } = document.components;
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const requested = reachable(
    schemas,
    operations.flatMap(({ parameters, requestBody }) => [parameters, requestBody]),
  );
  const returned = reachable(
    schemas,
    operations.map(({ responses }) => responses),
  );
  const split = new Set([...requested].filter((name) => returned.has(name) && containsDefaults(schemas, name)));
  for (const name of split)
    if (`${name}Input` in schemas) throw new Error(`${name} needs a schema named ${name}Input, but that name is taken`);

  const convert = (schema: unknown, direction: Direction): unknown =>
    forDirection(schema, direction, (name) => (direction === "request" && split.has(name) ? `${name}Input` : name));
  const components = Object.entries(schemas).flatMap(([name, schema]): [string, unknown][] => {
    if (split.has(name))
      return [
        [name, convert(schema, "response")],
        [`${name}Input`, convert(schema, "request")],
      ];
    return [[name, convert(schema, requested.has(name) ? "request" : "response")]];
  });
  const paths = mapValues(document.paths, (path) =>
    mapValues(path, (operation) => ({
      ...operation,
      ...(operation.requestBody !== undefined && {
        requestBody: convertMedia(operation.requestBody, (schema) => convert(schema, "request")),
      }),
      responses: mapValues(operation.responses, (response) => convertMedia(response, (schema) => convert(schema, "response"))),
    })),
  );
  const sorted = Object.fromEntries(components.sort(([one], [other]) => (one < other ? -1 : 1)));
  return Document.parse({ ...document, paths, components: { ...document.components, schemas: sorted } });
}

/** The names of all schemas that a value references, directly or indirectly. */
function reachable(schemas: Record<string, Schema>, from: unknown): Set<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    for (const name of referencesOf(value)) {
      if (names.has(name)) continue;
      names.add(name);
      visit(schemas[name]);
    }
  };
  visit(from);
  return names;
}

/** Whether a schema, or one that it references, has a property with a default. */
function containsDefaults(schemas: Record<string, Schema>, name: string): boolean {
  const all = [schemas[name], ...[...reachable(schemas, schemas[name])].map((other) => schemas[other])];
  return all.some((schema) => schema !== undefined && hasDefault(schema));
}

function hasDefault(schema: Schema): boolean {
  const properties = isObject(schema.properties) ? Object.values(schema.properties) : [];
  return properties.some((property) => isObject(property) && "default" in property) || subschemas(schema).some(hasDefault);
}

function subschemas(schema: Schema): Schema[] {
  return Object.entries(schema)
    .flatMap(([keyword, value]): unknown[] => {
      if (MAPS.has(keyword) && isObject(value)) return Object.values(value);
      if (LISTS.has(keyword) && Array.isArray(value)) return value;
      return SINGLES.has(keyword) ? [value] : [];
    })
    .filter(isObject);
}

function forDirection(schema: unknown, direction: Direction, rename: (name: string) => string): unknown {
  if (!isObject(schema)) return schema;
  const convert = (value: unknown): unknown => forDirection(value, direction, rename);
  const converted = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === "$ref" && typeof value === "string") return [keyword, renamed(value, rename)];
      if (keyword === "discriminator" && isObject(value)) return [keyword, renamedMapping(value, rename)];
      if (MAPS.has(keyword) && isObject(value))
        return [keyword, mapValues(value, (property) => withoutDefault(convert(property), direction))];
      if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map(convert)];
      return [keyword, SINGLES.has(keyword) ? convert(value) : value];
    }),
  );
  return direction === "response" ? withDefaultsRequired(schema, converted) : converted;
}

/** In a request the default moves into the description: several generators treat a property with `default` as required. */
function withoutDefault(property: unknown, direction: Direction): unknown {
  if (!isObject(property) || !("default" in property)) return property;
  const { default: value, ...rest } = property;
  if (direction === "response") return rest;
  const description = typeof rest.description === "string" ? `${rest.description.replace(/\.$/, "")}. ` : "";
  return { ...rest, description: `${description}Default: \`${JSON.stringify(value)}\`` };
}

function withDefaultsRequired(schema: Schema, converted: Schema): Schema {
  if (!isObject(schema.properties)) return converted;
  const listed = new Set(Array.isArray(schema.required) ? schema.required : []);
  const required = Object.entries(schema.properties)
    .filter(([name, property]) => listed.has(name) || (isObject(property) && "default" in property))
    .map(([name]) => name);
  return required.length > 0 ? { ...converted, required } : converted;
}

/** Converts each media type's schema of a request body or a response. */
function convertMedia(holder: unknown, convert: (schema: unknown) => unknown): unknown {
  if (!isObject(holder) || !isObject(holder.content)) return holder;
  const content = mapValues(holder.content, (media) =>
    isObject(media) && "schema" in media ? { ...media, schema: convert(media.schema) } : media,
  );
  return { ...holder, content };
}

function referencesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  if (!isObject(value)) return [];
  const own = typeof value.$ref === "string" && value.$ref.startsWith(PREFIX) ? [value.$ref.slice(PREFIX.length)] : [];
  return [...own, ...Object.values(value).flatMap(referencesOf)];
}

function renamed(reference: string, rename: (name: string) => string): string {
  return reference.startsWith(PREFIX) ? PREFIX + rename(reference.slice(PREFIX.length)) : reference;
}

function renamedMapping(discriminator: Schema, rename: (name: string) => string): Schema {
  if (!isObject(discriminator.mapping)) return discriminator;
  const mapping = mapValues(discriminator.mapping, (reference) => (typeof reference === "string" ? renamed(reference, rename) : reference));
  return { ...discriminator, mapping };
}

function mapValues<In, Out>(record: Record<string, In>, map: (value: In) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
