import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { newId } from "#worker/lib/ids.ts";
import { publicKeys, signToken, type TokenClaims } from "#worker/services/auth/tokens.ts";
import { globalToken } from "./contract-accounts.ts";
import { SIGNATURE_PLACEHOLDER } from "./contract-providers.ts";
import type { Caller, TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";

// Who can call an operation according to its description, and credentials of every kind: valid, invalid, and of the wrong kind.

export type Headers = Record<string, string>;

/** The kinds of credentials that authenticate a caller; the client id is public. */
const AUTHENTICATING = ["developer", "bearer", "super"];

/** Whether an operation requires more than a client id. */
export function requiresCredentials({ security }: Operation): boolean {
  return security.every((set) =>
    set.some((kind) => [...AUTHENTICATING, "provider", "signature", "stripeSignature", "shopifySignature"].includes(kind)),
  );
}

interface Access {
  area: string;
  action: string;
  accounts: "admin" | "creator" | "any" | "global" | "signedIn";
}

/** Who can call an operation according to its description. */
function documentedAccess({ description, method }: Operation): Access {
  const isRead = method === "get" || description.includes("read-only or not");
  const [, area = "", action = isRead ? "read" : "write"] = /developer key with the role `([\w-]+):(\w+)`/.exec(description) ?? [];
  if (description.includes("an admin of the affected channel")) return { area, action, accounts: "creator" };
  if (description.includes("any signed-in account of the site")) return { area, action, accounts: "any" };
  if (description.includes("Callable by a global account")) return { area, action, accounts: "global" };
  if (description.includes("any signed-in account")) return { area, action, accounts: "signedIn" };
  return { area, action, accounts: "admin" };
}

/** Invalid values for each kind of credentials, named after the defect. */
export async function invalidCredentials(own: TestSite, foreign: TestSite, operation: Operation): Promise<Record<string, Headers>> {
  const claims: TokenClaims = { accountId: own.accounts.admin.id, audience: own.id, sessionId: newId(Date.now()), passwordVersion: 1 };
  const token = await own.signIn(own.accounts.admin);
  const client: Headers = { "an unknown client id": newId(Date.now()), "a malformed client id": "site" };
  // A key or token belongs to one site; the operator can access all sites.
  if (
    operation.security.every(
      (set) => set.filter((kind) => kind !== "device").length > 1 && !set.includes("super") && !set.includes("signature"),
    )
  )
    client["another site's client id"] = foreign.id;
  // Without a client id, a token determines the site, so that it can't belong to another one.
  const foreignToken: Headers = operation.security.flat().includes("client")
    ? { "another site's token": `Bearer ${await foreign.signIn(foreign.accounts.admin)}` }
    : {};
  return {
    client,
    clientQuery: { "an unknown client id in the query": newId(Date.now()) },
    developer: {
      "a wrong key": "tifo_dev_wrong",
      "another site's key": foreign.developerKey,
      "an expired key": await own.addKey(["*"], 1),
    },
    bearer: {
      ...foreignToken,
      "a malformed token": "Bearer nonsense",
      "another scheme": "Basic dTpw",
      "a token without a signature": `Bearer ${unsigned(token)}`,
      "a token of another deployment": `Bearer ${await signToken({ TIFO_SECRET: "another secret" }, claims, Date.now())}`,
      "an expired token": `Bearer ${await signToken(env, claims, Date.now() - 601_000)}`,
      "a token without a session": `Bearer ${await signToken(env, claims, Date.now())}`,
      "a token signed with the public key": `Bearer ${await signedWithPublicKey(claims)}`,
    },
    signature: { "a wrong signature": "0".repeat(64), "a malformed signature": "nonsense" },
    stripeSignature: {
      "a wrong signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}`,
      "a malformed signature": "nonsense",
    },
    shopifySignature: { "a wrong signature": btoa("0".repeat(32)), "a malformed signature": "nonsense" },
    provider: { "an unknown provider": `Bearer ${crypto.randomUUID()}` },
    super: { "a wrong super key": "tifo_super_wrong" },
  };
}

/** Valid callers without access to the operation. */
export async function excludedCallers(own: TestSite, operation: Operation): Promise<Record<string, Headers>> {
  const kinds = new Set(operation.security.flat());
  const client = { "Tifo-Client-Id": own.id };
  const { area, action, accounts } = documentedAccess(operation);
  const excluded: Record<string, Headers> = {};
  if (!kinds.has("super")) excluded["the operator"] = { ...client, ...(await own.headersOf("super")) };
  if (kinds.has("developer")) {
    excluded["a key of another area"] = { ...client, "Tifo-Developer-Key": await own.addKey(["elsewhere:write"]) };
    if (action === "write") excluded["a read-only key"] = { ...client, "Tifo-Developer-Key": await own.addKey([`${area}:read`]) };
  } else excluded["a developer key"] = await own.headersOf("developer");
  const callers: Caller[] = [];
  if (!kinds.has("bearer")) callers.push("admin");
  else if (accounts === "global") callers.push("admin");
  else if (accounts === "admin" || accounts === "creator") {
    callers.push("viewer");
    if (accounts === "admin") callers.push("creator");
    if (action === "write") callers.push("reader");
  }
  for (const caller of callers) excluded[`the token of the ${caller}`] = await own.headersOf(caller);
  return excluded;
}

/** The callers with the fewest permissions that suffice. */
export async function leastPrivilegedCallers(own: TestSite, operation: Operation): Promise<Record<string, Headers>> {
  const kinds = new Set(operation.security.flat());
  const client = { "Tifo-Client-Id": own.id };
  const { area, action, accounts } = documentedAccess(operation);
  const least: Record<string, Headers> = {};
  if (kinds.has("developer")) {
    const [more = ""] = /key also needs [^.]*/.exec(operation.description) ?? [];
    const roles = [...more.matchAll(/`([a-z]+:\w+)`/g)].flatMap(([, role = ""]) => role);
    least["a key with only this role"] = { ...client, "Tifo-Developer-Key": await own.addKey([`${area}:${action}`, ...roles]) };
  }
  if (accounts === "global") least["a global account"] = { Authorization: `Bearer ${await globalToken()}` };
  else if (kinds.has("bearer")) {
    const managing = action === "read" ? own.accounts.reader : own.accounts.admin;
    // An account can access only its own resources, an admin those of any account.
    const account = accounts === "signedIn" || (accounts === "any" && !operation.path.includes("{")) ? own.accounts.viewer : managing;
    // A new account, because these operations end its other sessions.
    const caller = operation.path.startsWith("/auth/v2/totp") ? await own.addAccount(`app-${newId(Date.now())}`, []) : account;
    // A new session each time, because signing out ends it.
    least["an account"] = { ...client, Authorization: `Bearer ${await own.signIn(caller)}` };
  }
  if (kinds.has("signature")) least["the data provider"] = { ...client, "Tifo-Signature": SIGNATURE_PLACEHOLDER };
  if (kinds.has("stripeSignature")) least.Stripe = {};
  if (kinds.has("shopifySignature")) least.Shopify = {};
  if (kinds.has("super")) least["the operator"] = await own.headersOf("super");
  if (!requiresCredentials(operation)) least.anyone = kinds.size > 0 ? client : {};
  return least;
}

function unsigned(token: string): string {
  const [, payload = ""] = token.split(".");
  return `${base64Url({ alg: "none", typ: "JWT" })}.${payload}.`;
}

/** The classic attack: an HMAC with the public key as its secret. */
async function signedWithPublicKey({ accountId, audience, sessionId, passwordVersion }: TokenClaims): Promise<string> {
  const [key] = await publicKeys(env);
  return new SignJWT({ sid: sessionId, pv: passwordVersion })
    .setProtectedHeader({ alg: "HS256", kid: key?.kid })
    .setIssuer("tifo")
    .setAudience(audience)
    .setSubject(accountId)
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(key?.x));
}

function base64Url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
