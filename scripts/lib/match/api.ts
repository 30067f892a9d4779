import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { Problem } from "../report.mjs";

const ATTEMPTS = 4;
const PAUSE_MS = 300;

const Tokens = z.object({ jwt: z.string() });

/** Calls the API of a running server with one caller's credentials. */
export type Call = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

export interface ApiResponse {
  /** Method and URL of the request. */
  request: string;
  status: number;
  /** Undefined if it isn't JSON. */
  body: unknown;
}

/** The API as an anonymous caller, or as the token's account. */
export function as(url: string, jwt?: string): Call {
  const credentials: Record<string, string> = jwt === undefined ? {} : { Authorization: `Bearer ${jwt}` };
  return (method, path, body) => {
    const headers = method === "GET" || method === "DELETE" ? credentials : { ...credentials, "Idempotency-Key": randomUUID() };
    return send(url + path, method, headers, body === undefined ? null : JSON.stringify(body));
  };
}

/** The API as an account of the demo site, for ten minutes; undefined if the email or password is wrong. */
export async function signIn(url: string, email: string, password: string): Promise<Call | undefined> {
  const response = await as(url)("POST", "/auth/v2/login", { email, password, siteId: SITE_A });
  return response.status === 401 ? undefined : as(url, Tokens.parse(bodyOf(response)).jwt);
}

/** Sends a signed event as the demo's data provider. Events with the same id count once. */
export async function sendSigned(url: string, providerId: string, eventId: string, event: unknown): Promise<ApiResponse> {
  const text = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", "tifo_dp_demo").update(`${timestamp}.${text}`).digest("hex");
  const headers = { "Tifo-Event-Id": eventId, "Tifo-Timestamp": timestamp, "Tifo-Signature": signature };
  return send(`${url}/dataprovider/v1/${providerId}/events`, "POST", headers, text);
}

/** The body of a response; throws a problem with the server's message if it is an error. */
export function bodyOf({ request, status, body }: ApiResponse): unknown {
  if (status < 400) return body;
  const message = typeof body === "object" && body !== null && "message" in body ? String(body.message) : `status ${status}`;
  throw new Problem(`The server rejected ${request}: ${message}`);
}

/** Retries requests without a response or with a 5xx. They count once, because of their key or the event's id. */
async function send(url: string, method: string, headers: Record<string, string>, body: string | null): Promise<ApiResponse> {
  const allHeaders = { "Tifo-Client-Id": SITE_A, "Content-Type": "application/json", ...headers };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { method, headers: allHeaders, body }).catch(() => undefined);
    const isLast = attempt === ATTEMPTS;
    if (response && (response.status < 500 || isLast)) {
      return { request: `${method} ${url}`, status: response.status, body: await response.json().catch(() => undefined) };
    }
    if (isLast)
      throw new Problem(`No server responds at ${new URL(url).origin}: run \`npm start\` first, and set PORT if it isn't on 8787.`);
    await sleep(attempt * PAUSE_MS);
  }
}
