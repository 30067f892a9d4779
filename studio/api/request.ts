import { PressKeys } from "#sdk/client/press-keys.ts";
import { problemOf, TifoProblem } from "#sdk/client/problem.ts";
import { withRetries } from "#sdk/client/retry.ts";
import type { Session } from "#studio/session/session.ts";
import type { ApiOperation } from "./schema.ts";

export interface ApiRequest {
  path?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** The version that the change is based on. */
  ifMatch?: string | null;
}

type SiteSession = Pick<Session, "siteId" | "client">;

export interface ApiAnswer {
  data: unknown;
  etag: string | null;
}

/** Of what the forms of all screens create. */
const keys = new PressKeys();
const fetchWithRetries = withRetries((request) => fetch(request));

/**
 * Calls an operation that is known only from the OpenAPI document. Use the typed `client.api` wherever the operation is known. What a POST
 * creates is created once, also if it is sent again because the first answer was lost.
 */
export function request(session: SiteSession, operation: ApiOperation, input: ApiRequest): Promise<ApiAnswer> {
  if (operation.method !== "POST") return send(session, operation, input);
  const sent = JSON.stringify([session.siteId, operation.path, input]);
  return keys.once(sent, ({ key }) => send(session, operation, input, { "Idempotency-Key": key }));
}

async function send(session: SiteSession, operation: ApiOperation, input: ApiRequest, extra = {}): Promise<ApiAnswer> {
  const headers = new Headers({ ...extra, "Tifo-Client-Id": session.siteId });
  const jwt = await session.client.token();
  if (jwt !== null) headers.set("Authorization", `Bearer ${jwt}`);
  if (input.body !== undefined) headers.set("Content-Type", "application/json");
  if (typeof input.ifMatch === "string") headers.set("If-Match", input.ifMatch);
  const body = input.body === undefined ? null : JSON.stringify(input.body);
  const response = await fetchWithRetries(
    new Request(addressOf(operation.path, input), { method: operation.method, headers, body, cache: "no-store" }),
  ).catch((cause: unknown) => {
    throw new TifoProblem({ status: 0, code: "network", message: "The server can't be reached" }, { cause });
  });
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  const data: unknown = text === "" ? null : JSON.parse(text);
  return { data, etag: response.headers.get("ETag") };
}

function addressOf(template: string, { path = {}, query = {} }: ApiRequest): URL {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const address = new URL(filled, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") address.searchParams.set(name, String(value));
  return address;
}
