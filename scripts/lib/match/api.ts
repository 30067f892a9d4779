import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { Problem } from "../report.mjs";

const ATTEMPTS = 4;
const PAUSE_MS = 300;

const Tokens = z.object({ jwt: z.string() });

/** Calls the API of a running server as one of those who have to do with the demo site. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface Answer {
  /** Method and address of what was asked. */
  request: string;
  status: number;
  /** Undefined where it is no JSON. */
  body: unknown;
}

/** Anybody, or whoever the token is of. */
export function as(url: string, jwt?: string): Call {
  const own: Record<string, string> = jwt === undefined ? {} : { Authorization: `Bearer ${jwt}` };
  return (method, path, body) => {
    const headers = method === "GET" || method === "DELETE" ? own : { ...own, "Idempotency-Key": randomUUID() };
    return send(url + path, method, headers, body === undefined ? null : JSON.stringify(body));
  };
}

/** Calls as an account of the demo site, for ten minutes; undefined where there is none of that e-mail and password. */
export async function signIn(url: string, email: string, password: string): Promise<Call | undefined> {
  const answer = await as(url)("POST", "/auth/v2/login", { email, password, siteId: SITE_A });
  return answer.status === 401 ? undefined : as(url, Tokens.parse(bodyOf(answer)).jwt);
}

/** Sends an event as the demo's data provider, signed; one of the same id counts once. */
export async function sendSigned(url: string, providerId: string, eventId: string, event: unknown): Promise<Answer> {
  const text = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", "tifo_dp_demo").update(`${timestamp}.${text}`).digest("hex");
  const headers = { "Tifo-Event-Id": eventId, "Tifo-Timestamp": timestamp, "Tifo-Signature": signature };
  return send(`${url}/dataprovider/v1/${providerId}/events`, "POST", headers, text);
}

/** What an answer holds, or a problem in the server's own sentence. */
export function bodyOf({ request, status, body }: Answer): unknown {
  if (status < 400) return body;
  const said = typeof body === "object" && body !== null && "message" in body ? String(body.message) : `status ${status}`;
  throw new Problem(`The server refused ${request}: ${said}`);
}

/** Repeats what got no answer, or none of the API's own; by its key, or the event's id, it counts once all the same. */
async function send(url: string, method: string, headers: Record<string, string>, body: string | null): Promise<Answer> {
  const own = { "Tifo-Client-Id": SITE_A, "Content-Type": "application/json", ...headers };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { method, headers: own, body }).catch(() => undefined);
    const isLast = attempt === ATTEMPTS;
    if (response && (response.status < 500 || isLast)) {
      return { request: `${method} ${url}`, status: response.status, body: await response.json().catch(() => undefined) };
    }
    if (isLast) throw new Problem(`Nothing answers at ${new URL(url).origin}: run \`npm start\` first, and say where with PORT.`);
    await sleep(attempt * PAUSE_MS);
  }
}
