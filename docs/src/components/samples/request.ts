import { DEMO } from "../key/credentials.ts";
import { exampleOf, type Operation } from "../operation/document.ts";
import { demoBody, demoParameter } from "./demo-values.ts";

/** The request that an operation's samples send in each language, with the demo site's ids and keys. */
export interface SampleRequest {
  method: string;
  url: string;
  headers: Header[];
  body: SampleBody | undefined;
  /** Set if the body, or the id of a request without one, is signed. */
  signed: { secret: string; content: string } | undefined;
  /** What typed clients name: the path's template with its parameters, and the required query parameters. */
  operation: { template: string; path: Record<string, string>; query: { name: string; isText: boolean }[] };
  /** The kind of response. */
  returns: "json" | "text" | "file" | "nothing";
}

export interface Header {
  name: string;
  value: string;
  /** Appended to the value; known only when the sample runs. */
  variable?: "TIFO_TOKEN" | "signature";
}

export type SampleBody = { kind: "json"; value: unknown } | { kind: "text"; type: string; text: string } | { kind: "file" };

const CREDENTIALS: Record<string, Header> = {
  client: { name: "Tifo-Client-Id", value: DEMO.clientId },
  developer: { name: "Tifo-Developer-Key", value: DEMO.developerKey },
  bearer: { name: "Authorization", value: "Bearer ", variable: "TIFO_TOKEN" },
  provider: { name: "Authorization", value: "Bearer 5eed0000-0000-4000-8000-000000000001" },
  signature: { name: "Tifo-Signature", value: "", variable: "signature" },
  super: { name: "Tifo-Super-Key", value: "tifo_super_demo" },
  device: { name: "Tifo-Device-Id", value: "living-room-tv" },
};

const SIGNING_SECRET = "tifo_dp_demo";

export function requestOf(operation: Operation): SampleRequest {
  const [credentials = []] = operation.security;
  const body = bodyOf(operation);
  const signed = credentials.includes("signature") ? { secret: SIGNING_SECRET, content: valueOf(operation, "id") } : undefined;
  return {
    method: operation.method.toUpperCase(),
    url: urlOf(operation, credentials.includes("clientQuery")),
    headers: [
      ...credentials.flatMap((kind) => CREDENTIALS[kind] ?? []),
      ...(body && body.kind !== "file" ? [{ name: "Content-Type", value: body.kind === "json" ? "application/json" : body.type }] : []),
    ],
    body,
    signed,
    operation: {
      template: operation.path,
      path: Object.fromEntries([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, valueOf(operation, name)])),
      query: operation.parameters
        .filter((parameter) => parameter.in === "query" && parameter.required)
        .map(({ name, schema }) => ({ name, isText: schema.type === "string" })),
    },
    returns: responseKindOf(operation),
  };
}

function urlOf(operation: Operation, namesSite: boolean): string {
  const { path, parameters } = operation;
  const inPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(valueOf(operation, name)));
  const url = new URL(inPath, DEMO.origin);
  for (const { name, required } of parameters.filter((parameter) => parameter.in === "query"))
    if (required) url.searchParams.set(name, valueOf(operation, name));
  if (namesSite) url.searchParams.set("clientId", DEMO.clientId);
  return url.href;
}

function valueOf(operation: Operation, name: string): string {
  const parameter = operation.parameters.find((one) => one.name === name);
  const example = parameter?.example ?? exampleOf(parameter?.schema ?? {});
  return demoParameter(operation, name) ?? (typeof example === "string" ? example : JSON.stringify(example));
}

function bodyOf({ operationId, body }: Operation): SampleBody | undefined {
  if (!body) return undefined;
  if (body.type.startsWith("multipart/")) return { kind: "file" };
  if (body.type.startsWith("text/")) return { kind: "text", type: body.type, text: String(body.example).trimEnd() };
  return { kind: "json", value: demoBody(operationId, body.example) };
}

function responseKindOf({ responses }: Operation): SampleRequest["returns"] {
  const types = responses.flatMap(({ bodies }) => bodies.map(({ type }) => type));
  if (types.length === 0) return "nothing";
  if (types.some((type) => type.endsWith("/*"))) return "file";
  return types.includes("application/json") && responses.every(({ bodies }) => bodies.length > 0) ? "json" : "text";
}
