import { DEMO } from "../key/credentials.ts";
import type { Operation } from "../operation/document.ts";
import { JSON_TEXT, literal } from "../samples/literal.ts";
import { requestOf } from "../samples/request.ts";
import type { Field, Form } from "./request.ts";

/** Operations without a form: streams, and calls that only external systems make. */
const OPERATIONS_WITHOUT_FORM = new Set(["connectToChannel", "streamChannel", "openInvite", "receiveStripeEvent"]);

/** The form of an operation, with the values of its samples; undefined if a form can't represent it. */
export function formOf(operation: Operation): Form | undefined {
  if (OPERATIONS_WITHOUT_FORM.has(operation.operationId)) return undefined;
  const { url, headers, body, method } = requestOf(operation);
  const sample = new URL(url);
  const segments = sample.pathname.split("/");
  const names = operation.path.split("/");
  const fields: Field[] = operation.parameters.flatMap(({ name, required, in: place }): Field[] => {
    if (place === "path") return [{ name, required, in: place, value: decodeURIComponent(segments[names.indexOf(`{${name}}`)] ?? "") }];
    return place === "query" || place === "header" ? [{ name, required, in: place, value: sample.searchParams.get(name) ?? "" }] : [];
  });
  const headerFields = headers
    .filter(({ name }) => name !== "Content-Type")
    .map(({ name, value }): Field => ({ name, in: "header", required: true, value }));
  const named = fields.some(({ name }) => name === "clientId");
  const site: Field[] =
    sample.searchParams.has("clientId") && !named ? [{ name: "clientId", in: "query", required: true, value: DEMO.clientId }] : [];
  return { method, path: operation.path, fields: [...headerFields, ...site, ...fields], body: bodyOf(body) };
}

function bodyOf(body: ReturnType<typeof requestOf>["body"]): Form["body"] {
  if (!body) return undefined;
  if (body.kind === "file") return "file";
  return body.kind === "text" ? body : { type: "application/json", text: literal(body.value, JSON_TEXT) };
}
