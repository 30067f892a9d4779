import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { readSigned, signContent } from "#worker/lib/crypto/signed.ts";
import type { ListedOperation } from "./catalogue.ts";

export interface CallInput {
  operationId: string;
  path?: Record<string, string | number> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

/** What the MCP client sends about its caller, and what limits and origin checks read. Nothing of it comes from the model. */
const PASSED_ON = [
  "Accept-Language",
  "Authorization",
  "CF-Connecting-IP",
  "Origin",
  "Tifo-Client-Id",
  "Tifo-Developer-Key",
  "Tifo-Device-Id",
];
const PURPOSE = "mcp-confirmation";
/** How long a user has to agree. */
const VALID_MS = 10 * 60_000;

/** The request of a call, with the caller's own credentials; a string says which parameter is missing. */
export function requestOf(operation: ListedOperation, input: CallInput, c: Context<AppEnv>): Request | string {
  const missing: string[] = [];
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input.path?.[name];
    if (value === undefined || value === "") missing.push(name);
    return encodeURIComponent(String(value));
  });
  if (missing.length > 0) return `Missing in \`path\`: ${missing.join(", ")}`;
  const url = new URL(c.req.url);
  // A dot segment would be resolved into another operation's path.
  if (path.split("/").some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return "`path` may not contain dot segments";
  url.pathname = path;
  url.search = "";
  for (const [name, value] of Object.entries(input.query ?? {}))
    url.searchParams.set(name, typeof value === "string" ? value : JSON.stringify(value));
  const site = c.req.header("Tifo-Client-Id");
  if (site !== undefined && operation.security.some((kinds) => kinds.includes("clientQuery"))) url.searchParams.set("clientId", site);
  const headers = new Headers();
  for (const name of PASSED_ON) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (input.body === undefined || operation.method === "GET") return new Request(url, { method: operation.method, headers });
  const takesJson = operation.route.request?.body?.content["application/json"] !== undefined;
  const text = typeof input.body === "string" && !takesJson ? input.body : undefined;
  headers.set("Content-Type", text === undefined ? "application/json" : "text/plain");
  return new Request(url, { method: operation.method, headers, body: text ?? JSON.stringify(input.body) });
}

/** A code that confirms exactly this request of this caller, for ten minutes. */
export async function confirmationOf(env: Env, request: Request): Promise<string> {
  const expires = Date.now() + VALID_MS;
  return signContent(env, PURPOSE, `${expires}.${await fingerprint(request)}`);
}

export async function isConfirmed(env: Env, request: Request, code: string): Promise<boolean> {
  const content = await readSigned(env, PURPOSE, code).catch(() => undefined);
  const [expires = "", hash] = content?.split(".") ?? [];
  return Number(expires) > Date.now() && hash === (await fingerprint(request));
}

/** The same request with an Idempotency-Key of its confirmation, so that a code that is used twice changes something once. */
export async function once(request: Request, code: string): Promise<Request> {
  const headers = new Headers(request.headers);
  headers.set("Idempotency-Key", `mcp-${(await sha256(code)).slice(0, 40)}`);
  return new Request(request, { headers });
}

async function fingerprint(request: Request): Promise<string> {
  const caller = ["Authorization", "Tifo-Client-Id", "Tifo-Developer-Key"].map((name) => request.headers.get(name));
  // A token is replaced every ten minutes, so that its account can change between asking and agreeing only with another token.
  return sha256(JSON.stringify([request.method, request.url, caller, await request.clone().text()]));
}
