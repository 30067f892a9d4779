import { z } from "@hono/zod-openapi";
import { newId } from "#worker/lib/ids.ts";
import { change, type Draft, idParameters } from "./contract-requests.ts";
import { type CallOptions, fillPath } from "./harness.ts";
import { resolveRef, type Operation, type Schema } from "./openapi.ts";

// Everything that an operation must reject, derived from its own declaration.

/** A request that must be rejected with this status and code, and for the field at `path` if there is one. */
export interface Case {
  name: string;
  draft: Draft;
  status: number;
  code: string;
  path?: string;
}

const MALFORMED = '{"name": ';
const HEADERS: Record<string, string> = {
  client: "Tifo-Client-Id",
  developer: "Tifo-Developer-Key",
  bearer: "Authorization",
  provider: "Authorization",
  signature: "Tifo-Signature",
  stripeSignature: "Stripe-Signature",
  shopifySignature: "X-Shopify-Hmac-Sha256",
  super: "Tifo-Super-Key",
};
const NO_CREDENTIALS = Object.fromEntries(Object.values(HEADERS).map((header) => [header, undefined]));
const JsonObject = z.record(z.string(), z.unknown());

/** Whether the operation accepts requests without credentials. */
export function allowsAnonymous({ security }: Operation): boolean {
  return security.some((set) => set.length === 0);
}

/** 401: no credentials or wrong ones, whatever the input. */
export function unauthenticatedCases(operation: Operation, base: Draft, invalid: Record<string, Record<string, string>>): Case[] {
  const cases: Case[] = [];
  const add = (name: string, changed: Draft): void => void cases.push({ name, draft: changed, status: 401, code: "unauthenticated" });
  if (!allowsAnonymous(operation)) {
    const anonymous = change(base, { headers: NO_CREDENTIALS, query: { clientId: undefined } });
    add("no credentials", anonymous);
    if (operation.body) add("no credentials and a malformed body", change(anonymous, { body: MALFORMED }));
    for (const name of idParameters(operation)) add(`no credentials and a malformed ${name}`, withParam(operation, anonymous, name, "xyz"));
  }
  for (const kind of new Set(operation.security.flat())) {
    for (const [name, value] of Object.entries(invalid[kind] ?? {})) {
      const header = HEADERS[kind];
      add(
        name,
        header === undefined
          ? change(base, { query: { clientId: value }, headers: { "Tifo-Client-Id": undefined } })
          : change(base, { headers: { ...without(kind), [header]: value } }),
      );
    }
  }
  return cases;
}

/** Removes the other valid credentials, so that only the wrong ones are sent. */
function without(kind: string): Record<string, undefined> {
  if (kind === "developer") return { Authorization: undefined, "Tifo-Super-Key": undefined };
  return kind === "bearer" || kind === "provider" ? { "Tifo-Developer-Key": undefined, "Tifo-Super-Key": undefined } : {};
}

/** 403: valid callers of a kind or role that has no access, whatever the input. */
export function forbiddenCases(operation: Operation, base: Draft, excluded: Record<string, Record<string, string>>): Case[] {
  return Object.entries(excluded).flatMap(([name, headers]) => {
    const other = change(base, { headers: { ...NO_CREDENTIALS, ...headers } });
    const cases: Case[] = [{ name, draft: other, status: 403, code: "forbidden" }];
    if (operation.body)
      cases.push({ name: `${name} with a malformed body`, draft: change(other, { body: MALFORMED }), status: 403, code: "forbidden" });
    return cases;
  });
}

/** 404: ids of another site, and ids that don't exist. */
export function unknownIdCases(operation: Operation, base: Draft, call: CallOptions, foreign: Record<string, string>): Case[] {
  return idParameters(operation).flatMap((name) =>
    [
      { kind: "another site's", id: foreign[name] ?? "" },
      { kind: "an unknown", id: newId(Date.now()) },
    ].map(({ kind, id }) => ({
      name: `${kind} ${name}`,
      draft: change(base, { path: fillPath(operation, { ...call.params, [name]: id }) }),
      status: 404,
      code: "not_found",
    })),
  );
}

/** 400, 413 and 415: input that violates the declaration. */
export function invalidInputCases(operation: Operation, base: Draft): Case[] {
  return [...invalidParams(operation, base), ...invalidQueries(operation, base), ...invalidBodies(operation, base)];
}

function invalidParams(operation: Operation, base: Draft): Case[] {
  return operation.parameters
    .filter((parameter) => parameter.in === "path" && parameter.schema.pattern !== undefined)
    .flatMap(({ name, schema }) =>
      ["xyz", "5EED0000000000000000C001", "5eed0000000000000000c00", "5eed0000000000000000c0011", "' or 1=1 --", "../secret", "%00"]
        // A slug may look like some of them.
        .filter((value) => !new RegExp(schema.pattern ?? "").test(value))
        .map((value) => badRequest(`${name} ${JSON.stringify(value)}`, withParam(operation, base, name, value), name)),
    );
}

function withParam(operation: Operation, base: Draft, name: string, value: string): Draft {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const pattern = new RegExp(`^${operation.path.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "([^/]+)")}$`);
  const values = pattern.exec(base.url.pathname)?.slice(1) ?? [];
  const params = Object.fromEntries(names.map((other, index) => [other, decodeURIComponent(values[index] ?? "")]));
  return change(base, { path: fillPath(operation, { ...params, [name]: value }) });
}

function invalidQueries(operation: Operation, base: Draft): Case[] {
  const declared = operation.parameters.filter((parameter) => parameter.in === "query");
  if (declared.length === 0) return [];
  const cases = [badRequest("an unknown query parameter", change(base, { query: { surprise: "1" } }), "surprise")];
  for (const { name, required, schema } of declared) {
    if (required) cases.push(badRequest(`no ${name}`, change(base, { query: { [name]: undefined } }), name));
    // A wrong client id is a wrong credential: 401.
    if (name === "clientId") continue;
    for (const value of invalidTexts(schema))
      cases.push(badRequest(`${name}=${value.slice(0, 40)}`, change(base, { query: { [name]: value } }), name));
  }
  return cases;
}

/** Values that are invalid for a query parameter of this schema. */
function invalidTexts(schema: Schema): string[] {
  if (schema.enum || schema.type === "boolean") return ["nope"];
  if (schema.type === "integer") {
    return [
      "x",
      "1.5",
      ...(schema.minimum === undefined ? [] : [String(schema.minimum - 1)]),
      ...(schema.maximum === undefined ? [] : ["999999999999"]),
    ];
  }
  return [
    ...(schema.pattern === undefined ? [] : ["not of this form!"]),
    ...(schema.maxLength === undefined ? [] : ["a".repeat(schema.maxLength + 1)]),
  ];
}

/** Operations that read a text as JSON, because a page that is being closed can't send anything else. */
const READS_TEXT = new Set(["reportImpressions"]);

function invalidBodies(operation: Operation, base: Draft): Case[] {
  const { body } = operation;
  if (!body || typeof base.body !== "string") return [];
  const text = base.body;
  const parsed: unknown = JSON.parse(text);
  const withBody = (value: unknown): Draft => change(base, { body: JSON.stringify(value) });
  const tooLarge = JSON.stringify([parsed, "a".repeat(2_000_000)]);
  const cases: Case[] = [
    { name: "malformed JSON", draft: change(base, { body: MALFORMED }), status: 400, code: "malformed_json" },
    {
      name: "another content type",
      draft: change(base, { headers: { "Content-Type": READS_TEXT.has(operation.operationId) ? "text/html" : "text/plain" } }),
      status: 415,
      code: "unsupported_media_type",
    },
    {
      name: "a form",
      draft: change(base, { headers: { "Content-Type": "application/x-www-form-urlencoded" } }),
      status: 415,
      code: "unsupported_media_type",
    },
    {
      name: "no content type",
      draft: change(base, { headers: { "Content-Type": undefined }, body: new TextEncoder().encode(text) }),
      status: 415,
      code: "unsupported_media_type",
    },
    { name: "2 MB", draft: change(base, { body: tooLarge }), status: 413, code: "payload_too_large" },
    { name: "2 MB in chunks", draft: change(base, { body: new Response(tooLarge).body }), status: 413, code: "payload_too_large" },
  ];
  for (const value of [null, Array.isArray(parsed) ? {} : [], "text", 7])
    cases.push(badRequest(`a body of ${JSON.stringify(value)}`, withBody(value), ""));
  if (body.required) cases.push({ name: "an empty body", draft: change(base, { body: "" }), status: 400, code: "malformed_json" });
  // The tests of the area cover the items of a list.
  if (Array.isArray(parsed)) return cases;
  const valid = JsonObject.parse(parsed);
  cases.push(
    badRequest("an unknown field", withBody({ ...valid, surprise: 1 }), "surprise"),
    badRequest(
      "a field named __proto__",
      change(base, { body: text.replace(/^\{(.?)/, (_, next) => `{"__proto__":1${next === "}" ? "" : ","}${next}`) }),
      undefined,
    ),
  );
  for (const name of body.schema.required ?? []) {
    cases.push(badRequest(`no ${name}`, withBody({ ...valid, [name]: undefined }), name));
  }
  for (const [name, property] of Object.entries(body.schema.properties ?? {})) {
    for (const value of invalidValues(resolveRef(property))) {
      cases.push(badRequest(`${name}: ${JSON.stringify(value).slice(0, 40)}`, withBody({ ...valid, [name]: value }), name));
    }
  }
  return cases;
}

/** In a union, the document declares null as a member. */
function isNullable({ nullable, oneOf = [], anyOf = [], allOf = [] }: Schema): boolean {
  return nullable === true || [...oneOf, ...anyOf, ...allOf].some((member) => resolveRef(member).nullable === true);
}

/** Values that are invalid for a field of this schema. */
function invalidValues(schema: Schema): unknown[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const values: unknown[] = isNullable(schema) ? [] : [null];
  if (schema.enum) values.push("nope");
  switch (schema.type) {
    case "string":
      values.push(7, {}, ...(minLength ? [""] : []), ...(maxLength === undefined ? [] : ["a".repeat(maxLength + 1)]));
      if (schema.pattern !== undefined || schema.format !== undefined) values.push("not of this form!");
      break;
    case "integer":
    case "number":
      values.push("7", true, ...(minimum === undefined ? [] : [minimum - 1]), ...(maximum === undefined ? [] : [maximum + 1, 1e300]));
      if (schema.type === "integer") values.push(1.5);
      break;
    case "boolean":
      values.push("true", 1);
      break;
    case "array":
      values.push(
        {},
        "text",
        [{ surprise: 1 }],
        ...(minItems ? [[]] : []),
        ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => 7)]),
      );
      break;
    case "object":
      values.push("text", 7, []);
      break;
    default:
  }
  return values;
}

function badRequest(name: string, changed: Draft, path: string | undefined): Case {
  return { name, draft: changed, status: 400, code: "invalid_request", path };
}
