/** The parts of an OpenAPI 3.0 schema that tables and forms use. */
export interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  nullable?: boolean;
  description?: string;
  example?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  maxItems?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: unknown;
}

export interface Parameter {
  name: string;
  in: string;
  schema?: Schema;
  description?: string;
}

export interface ApiOperation {
  method: string;
  path: string;
  parameters: Parameter[];
  body?: Schema;
  response?: Schema;
}

/** Some operations of the OpenAPI document, with the schemas that they refer to; `import("openapi:getPage,updatePage")` loads one. */
export interface ApiExcerpt {
  operations: Record<string, ApiOperation>;
  schemas: Record<string, Schema>;
}

/** Follows references, and leaves out the alternative `null`. */
export function resolve(schema: Schema, excerpt: ApiExcerpt): Schema {
  if (schema.$ref !== undefined) {
    const found = excerpt.schemas[schema.$ref.split("/").at(-1) ?? ""];
    return found ? resolve(found, excerpt) : {};
  }
  const alternatives = schema.oneOf ?? schema.anyOf;
  const real = alternatives?.filter((alternative) => !alternative.enum?.every((value) => value === null) || alternative.enum.length === 0);
  if (real?.length === 1 && real[0] && alternatives && alternatives.length > 1) {
    return { ...resolve(real[0], excerpt), nullable: true, ...(schema.description !== undefined && { description: schema.description }) };
  }
  if (schema.allOf) return schema.allOf.map((part) => resolve(part, excerpt)).reduce(merge, {});
  return schema;
}

function merge(first: Schema, second: Schema): Schema {
  return {
    ...first,
    ...second,
    properties: { ...first.properties, ...second.properties },
    required: [...(first.required ?? []), ...(second.required ?? [])],
  };
}

export function operationOf(excerpt: ApiExcerpt, operationId: string): ApiOperation {
  const operation = excerpt.operations[operationId];
  if (!operation) throw new Error(`The excerpt has no operation ${operationId}`);
  return operation;
}
