import { env, exports } from "cloudflare:workers";
import type { z } from "@hono/zod-openapi";
import { expect, onTestFinished, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, sessions, userProfiles } from "#db/schema/accounts.ts";
import { connectedAccounts } from "#db/schema/commerce/billing.ts";
import { pages } from "#db/schema/pages.ts";
import { apiKeys, sites } from "#db/schema/sites.ts";
import type { AccountRole } from "#db/types.ts";
import { Problem } from "#worker/http/errors.ts";
import { hashPassword, randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { normalizeEmail, normalizeName } from "#worker/services/accounts/account-rows.ts";
import { signToken, type TokenClaims } from "#worker/services/auth/tokens.ts";
import { PING } from "#worker/durable-objects/relay/relay.protocol.ts";
import { takeLogLine, type LogLine } from "./log-lines.ts";
import { type Operation, operationOf } from "./openapi.ts";
import { PLAYLIST_HOST } from "./playlists.ts";
import { unlistedFields } from "./public-responses.ts";
import { requestViolations, responseViolations } from "./published-document.ts";
import { TestViewer } from "./isolated/relay-viewer.ts";
import { placeTestSite, siteStore } from "#test/site-store.ts";

export const ORIGIN = "https://tifo.test";
/** The password of every account of a test site. */
export const PASSWORD = "demo-admin-pass";

const db = createDb(siteStore);
const YEAR = 365 * 86_400_000;
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };

// Password hashing is slow by design, so all accounts of all suites share one hash.
const passwordHash = hashPassword(PASSWORD);

/** The sites of the current suite, whose events are checked when it ends. */
export const siteIds: string[] = [];

export type Caller = "developer" | "admin" | "reader" | "creator" | "viewer" | "super" | "client" | "nobody";

export interface CallOptions {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  body?: unknown;
  headers?: Record<string, string>;
  /** The caller; by default the one with the most permissions that the operation accepts. */
  as?: Caller;
}

export interface TestAccount {
  id: string;
  email: string;
  roles: AccountRole[];
}

/** A response, already checked against the operation's declaration. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  body: unknown;
  /** The body of an error. */
  problem: z.infer<typeof Problem> | undefined;
  /** The invalid fields that the error names. */
  fields: string[];
  /** The request's log line. */
  log: LogLine;
  as<T extends z.ZodType>(schema: T): z.output<T>;
}

/** A new site for a suite, with accounts, keys, two channels and a Stripe account, and functions that call the API on its behalf. */
export interface TestSite {
  id: string;
  slug: string;
  channels: [first: string, second: string];
  developerKey: string;
  accounts: Record<"admin" | "reader" | "creator" | "viewer", TestAccount>;
  /** Calls an operation by its id; fails if the response isn't what the document declares. */
  call(operationId: string, options?: CallOptions): Promise<ApiResponse>;
  /** The caller's credentials as headers. */
  headersOf(caller: Caller): Promise<Record<string, string>>;
  /** Returns the JWT of a new session. */
  signIn(account: TestAccount): Promise<string>;
  addAccount(name: string, roles: AccountRole[], tags?: string[]): Promise<TestAccount>;
  addKey(roles: string[], expires?: number): Promise<string>;
  addChannel(slug: string, data?: Record<string, unknown>, channelId?: string): Promise<string>;
}

export async function newSite(): Promise<TestSite> {
  const now = Date.now();
  const id = newId(now);
  siteIds.push(id);
  const slug = `site-${randomHex(6)}`;
  const channels: TestSite["channels"] = [newId(now), newId(now + 1)];
  const stamps = { created: now, modified: now };
  await placeTestSite(id, slug);
  await db.insert(sites).values({
    ...stamps,
    id,
    slug,
    name: "Harbour City FC",
    collections: [],
    regions: {},
    settings: {
      security: { allowedOrigins: ["https://demo.example"], allowNewAdmins: true, requireVerifiedEmail: false, providers: [] },
      manifest: { hosts: [PLAYLIST_HOST], cues: [] },
    },
    style: {},
    features: {},
    shards: [],
    tags: [],
    deviceLimit: 3,
  });

  await db.insert(connectedAccounts).values({
    ...stamps,
    id: newId(now),
    siteId: id,
    stripeAccount: `acct_${id}`,
    chargesEnabled: true,
    payoutsEnabled: true,
    detailsSubmitted: true,
    requirements: { currentlyDue: [], pastDue: [], disabledReason: null },
    synced: now,
  });

  // Lists have accounts in the order of their ids, which begin with the millisecond.
  let added = 0;
  async function addAccount(name: string, roles: AccountRole[], tags: string[] = []): Promise<TestAccount> {
    const email = `${name}@${slug}.example`;
    const account = { id: newId(Date.now() + added++), email, roles };
    await db.batch([
      db.insert(accounts).values({
        ...stamps,
        ...account,
        siteId: id,
        name,
        normalizedName: normalizeName(name),
        passwordHash: await passwordHash,
        emailHash: await sha256(normalizeEmail(email)),
        tags,
        thirdPartyAuthProviders: [],
        emailVerified: now,
        trusted: true,
        marketingOptin: false,
      }),
      db.insert(userProfiles).values({ ...stamps, id: newId(now), siteId: id, accountId: account.id, name }),
    ]);
    return account;
  }

  async function addKey(roles: string[], expires: number | null = null): Promise<string> {
    const key = `tifo_dev_${randomToken(12)}`;
    await db.insert(apiKeys).values({ ...stamps, id: newId(now), siteId: id, hash: await sha256(key), name: "Test key", roles, expires });
    return key;
  }

  async function addChannel(channelSlug: string, data: Record<string, unknown> = {}, channelId = newId(Date.now())): Promise<string> {
    await db.insert(pages).values({
      ...stamps,
      id: channelId,
      siteId: id,
      type: "channel",
      slug: channelSlug,
      seo: {},
      style: {},
      activeRenderers: [],
      renderers: {},
      data: { name: channelSlug, gate: { type: "none", skus: [] }, ...data },
      tags: [],
    });
    return channelId;
  }

  async function openSession(account: TestAccount): Promise<TokenClaims> {
    const sessionId = newId(Date.now());
    await db
      .insert(sessions)
      .values({ id: sessionId, audience: id, accountId: account.id, generation: 1, created: now, expires: Date.now() + YEAR });
    return { accountId: account.id, audience: id, sessionId, passwordVersion: 1 };
  }

  async function signIn(account: TestAccount): Promise<string> {
    return signToken(env, await openSession(account), Date.now());
  }

  await addChannel("main-stage", { external_field_1: "match-7" }, channels[0]);
  await addChannel("backstage", {}, channels[1]);
  const people = {
    admin: await addAccount("admin", [ADMIN]),
    reader: await addAccount("reader", [{ ...ADMIN, write: false }]),
    creator: await addAccount("creator", [{ ...ADMIN, pageId: [channels[0]] }]),
    viewer: await addAccount("viewer", [], ["team:home"]),
  };
  const developerKey = await addKey(["*"]);
  const sessionsOf = new Map<string, Promise<TokenClaims>>();

  async function headersOf(caller: Caller): Promise<Record<string, string>> {
    if (caller === "nobody") return {};
    if (caller === "super") return { "Tifo-Super-Key": env.TIFO_SUPER_KEY };
    const client = { "Tifo-Client-Id": id };
    if (caller === "client") return client;
    if (caller === "developer") return { ...client, "Tifo-Developer-Key": developerKey };
    let claims = sessionsOf.get(caller);
    if (!claims) sessionsOf.set(caller, (claims = openSession(people[caller])));
    // Signed for each call: a token is valid for ten minutes, and a suite on a slow machine can take longer.
    return { ...client, Authorization: `Bearer ${await signToken(env, await claims, Date.now())}` };
  }

  async function call(operationId: string, { params, query = {}, body, headers = {}, as }: CallOptions = {}): Promise<ApiResponse> {
    const operation = operationOf(operationId);
    const url = new URL(fillPath(operation, params), ORIGIN);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const caller = as ?? strongestCaller(operation);
    if (caller !== "nobody" && sendsClientIdInQuery(operation) && query.clientId === undefined) url.searchParams.set("clientId", id);
    const encoded = encodeBody(body);
    return send(operation, url, {
      method: operation.method.toUpperCase(),
      headers: { ...(await headersOf(caller)), ...encoded.headers, ...headers },
      body: encoded.body,
    });
  }

  return { id, slug, channels, developerKey, accounts: people, call, headersOf, signIn, addAccount, addKey, addChannel };
}

/** Encodes a body: forms and text are sent as they are, everything else as JSON. */
export function encodeBody(body: unknown): { headers: Record<string, string>; body: BodyInit | null } {
  if (body === undefined) return { headers: {}, body: null };
  if (body instanceof FormData) return { headers: {}, body };
  if (body instanceof Blob) return { headers: { "Content-Type": body.type }, body };
  return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

/** Sends a request of an operation and checks the response against the document. */
export async function send(operation: Operation, url: URL, init: RequestInit): Promise<ApiResponse> {
  const headers = new Headers(init.headers);
  if (!headers.has("Tifo-Request-Id")) headers.set("Tifo-Request-Id", `test.${randomHex(8)}`);
  const response = await exports.default.fetch(url, { ...init, headers, redirect: "manual" });
  const { status } = response;
  const text = isStream(response) ? "" : await response.text();
  const log = takeLogLine(headers.get("Tifo-Request-Id") ?? "");
  const where = `${operation.operationId} ${status} ${text.slice(0, 600)} ${log.cause ?? ""}`;
  const isJson = /[/+]json/.test(response.headers.get("Content-Type") ?? "");
  const body: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
  expect(declaredStatuses(operation, status), where).toContain(status);
  const problem = status >= 400 ? checkProblem(operation, status, response, body, where) : undefined;
  if (status < 400 && headers.get("Content-Type")?.includes("json")) checkRequest(operation, init.body, where);
  if (status < 400 && !isOtherFormat(operation, response)) checkResponse(operation, status, body, where);
  if (status < 400 && AUTHENTICATION_HEADERS.every((name) => !headers.has(name)))
    expect(unlistedFields(operation, status, body), where).toEqual([]);
  checkSecrets(log, headers, init.body);
  if (isStream(response)) onTestFinished(() => response.body?.cancel());
  return {
    status,
    headers: response.headers,
    text,
    body,
    problem,
    fields: [...new Set(problem?.issues?.map((issue) => issue.path))],
    log,
    as: (schema) => schema.parse(body),
  };
}

/** Headers that authenticate a caller; the client id is public. */
const AUTHENTICATION_HEADERS = [
  "Authorization",
  "Tifo-Developer-Key",
  "Tifo-Super-Key",
  "Tifo-Signature",
  "Stripe-Signature",
  "X-Shopify-Hmac-Sha256",
];

/** A 304 isn't declared: every operation with an ETag can return it. */
function declaredStatuses(operation: Operation, status: number): number[] {
  return status === 304 ? [304] : [...operation.responses.keys()];
}

/** The published document must allow every body that was accepted. */
function checkRequest({ operationId }: Operation, body: BodyInit | null | undefined, where: string): void {
  if (typeof body !== "string") return;
  expect(requestViolations(operationId, JSON.parse(body)), `request of ${where}`).toEqual([]);
}

/** The body may not contain undeclared fields, which the schema would drop. */
function checkResponse(operation: Operation, status: number, body: unknown, where: string): void {
  const schema = operation.responseSchemas.get(status);
  if (!schema) {
    expect(body, where).toBeUndefined();
    return;
  }
  expect(responseViolations(operation.operationId, status, body), where).toEqual([]);
  const parsed = schema.safeParse(body);
  expect(parsed.error?.issues ?? [], where).toEqual([]);
  expect(parsed.data, where).toEqual(body);
}

function checkProblem(operation: Operation, status: number, response: Response, body: unknown, where: string): z.infer<typeof Problem> {
  expect(response.headers.get("Content-Type"), where).toBe("application/problem+json");
  const problem = Problem.strict().parse(body);
  expect(responseViolations(operation.operationId, status, body), where).toEqual([]);
  expect(problem.status, where).toBe(status);
  expect(operation.responses.get(status)?.description ?? "", where).toContain(`\`${problem.code}\``);
  // A replayed response contains the id of the first request.
  if (!response.headers.has("Idempotent-Replayed")) expect(problem.requestId, where).toBe(response.headers.get("Tifo-Request-Id"));
  expect(status, where).not.toBe(500);
  return problem;
}

/** The log line may not contain a credential of the request. */
function checkSecrets(log: LogLine, headers: Headers, body: BodyInit | null | undefined): void {
  const line = JSON.stringify(log);
  for (const name of ["Authorization", "Tifo-Developer-Key", "Tifo-Super-Key", "Idempotency-Key"]) {
    const value = headers.get(name)?.replace(/^Bearer /, "");
    if (value) expect(line).not.toContain(value);
  }
  if (typeof body === "string" && body.includes(PASSWORD)) expect(line).not.toContain(PASSWORD);
}

/** The path with its parameters filled in, by default from the document's examples. */
export function fillPath(operation: Operation, params: Record<string, string> = {}): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? operation.parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.example;
    return encodeURIComponent(String(value));
  });
}

/** The caller with the most permissions among those that an operation accepts. */
export function strongestCaller({ security }: Operation): Caller {
  const kinds = new Set(security.flat());
  if (kinds.has("super")) return "super";
  if (kinds.has("developer")) return "developer";
  if (kinds.has("bearer")) return "admin";
  return kinds.size > 0 ? "client" : "nobody";
}

/** Whether the client id is sent in the query, because browsers can't set a header on the request. */
export function sendsClientIdInQuery({ security }: Operation): boolean {
  return security.length > 0 && security.every((set) => set.includes("clientQuery"));
}

/** Whether the caller asked for a declared format that isn't JSON, such as CSV, of an operation that also returns JSON. */
function isOtherFormat({ responses }: Operation, response: Response): boolean {
  const [type = ""] = (response.headers.get("Content-Type") ?? "").split(";");
  return !type.includes("json") && (responses.get(response.status)?.content.includes(type) ?? false);
}

function isStream(response: Response): boolean {
  return response.status === 101 || (response.headers.get("Content-Type") ?? "").startsWith("text/event-stream");
}

/** Waits until the site's count of viewers is correct: a channel's first viewer is admitted before the site counts it. */
export async function waitForViewerCount(site: TestSite, viewers: number): Promise<void> {
  const presence = env.SITE_PRESENCE.getByName(site.id);
  await vi.waitUntil(async () => (await presence.concurrents()).concurrents === viewers, { interval: 5 });
}

/** Opens a channel's socket as a browser does, and sends pings until the test ends. */
export async function openSocket(
  site: TestSite,
  channelId: string,
  query: Record<string, string | number> = {},
  headers: Record<string, string> = {},
): Promise<TestViewer> {
  const url = new URL(`/realtime/v1/channels/${channelId}`, ORIGIN);
  for (const [name, value] of Object.entries({ clientId: site.id, ...query })) url.searchParams.set(name, String(value));
  const { webSocket, status } = await exports.default.fetch(url, { headers: { ...headers, Upgrade: "websocket" } });
  if (!webSocket) throw new Error(`The upgrade failed with ${status}`);
  const viewer = new TestViewer(webSocket);
  const pings = setInterval(() => webSocket.readyState === WebSocket.OPEN && viewer.send(PING), 10_000);
  onTestFinished(() => {
    clearInterval(pings);
    if (webSocket.readyState === WebSocket.OPEN) viewer.close();
  });
  return viewer;
}
