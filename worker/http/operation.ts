import type { RouteConfig } from "@hono/zod-openapi";
import type { ErrorCode } from "#worker/lib/errors.ts";
import type { LimitName } from "#worker/lib/limits.ts";
import type { Action } from "#worker/lib/roles.ts";
import type { CredentialKind, Credentials } from "./credentials.ts";
import { enter } from "./enter.ts";
import { errorResponses } from "./errors.ts";

/** Which accounts may call where a bearer token is taken: any of the site, a site admin, an admin of some channel too, a global one, or whoever is signed in. */
export type Accounts = "any" | "admin" | "creator" | "global" | "signedIn";

/** The declaration of one operation: the OpenAPI document, the enforcement and the handler's types all come from it. */
export interface OperationSpec {
  operationId: string;
  tag: string;
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Without a trailing slash; requests may have one. */
  path: string;
  summary: string;
  description: string;
  credentials: Credentials;
  /** Credentials that need not be shown; where they are, the verb may answer more. */
  also?: Credentials;
  /** What a key's roles and an account's role must allow; GET reads and all else writes unless said. */
  action?: Action;
  /** "admin" unless said. */
  accounts?: Accounts;
  /** What it takes: params, query, body; `{}` for nothing. */
  request: NonNullable<RouteConfig["request"]>;
  responses: RouteConfig["responses"];
  /** Codes beyond those that follow from credentials and request. */
  errors?: readonly ErrorCode[];
  /** A limit of which each call takes one. */
  limit?: LimitName;
  /** Bytes; 256 kB unless it says more. */
  maxBody?: number;
  /** What a global sign-in is told, where it isn't the usual 403. */
  globalRefusal?: ErrorCode;
  /** The error for an account whose roles aren't enough, where it isn't the usual 403. */
  roleRefusal?: ErrorCode;
  /** What an unknown client id is told with a 404, where it isn't the usual 401. */
  unknownSite?: string;
  /** The `message` of the 400 for a body that isn't JSON or not of the schema, where integrators know a sentence for it. */
  refusal?: string;
  /** The answer is too large or too secret to keep for a repeated Idempotency-Key: the verb keeps a `ctx.receipt` and answers again from that. */
  answersAgain?: boolean;
  /** The body itself is the credential: whoever repeats it is the same caller, wherever they are. */
  bodyProves?: boolean;
  /** What it changes doesn't depend on what others change at the same time, as with additions: however many come at once, all succeed. */
  commutes?: boolean;
  /** The answer holds a secret: it is not kept for a repeated Idempotency-Key. */
  secretAnswer?: boolean;
}

/** The spec with its defaults in place, as the middleware takes it. */
export type Entrance = Pick<
  OperationSpec,
  "operationId" | "path" | "limit" | "unknownSite" | "globalRefusal" | "roleRefusal" | "refusal"
> & {
  /** Those that may be shown, then those that must. */
  credentials: Credentials;
  area: string;
  action: Action;
  accounts: Accounts;
  maxBody: number;
  mayOmitBody: boolean;
  replayable: boolean;
  commutes: boolean;
  secretAnswer: boolean;
  answersAgain: boolean;
  bodyProves: boolean;
};

/** What a handler's types follow from. */
type Route<S extends OperationSpec> = Pick<S, "method" | "path" | "request" | "responses">;

/** Turns a declaration into a route for `area.openapi(route, handler)`. */
export function operation<const S extends OperationSpec>(spec: S): Route<S> {
  const replayable = spec.method === "post" || spec.method === "put" || spec.method === "patch";
  const entrance: Entrance = {
    operationId: spec.operationId,
    path: spec.path,
    credentials: [...(spec.also ?? []), ...spec.credentials],
    limit: spec.limit,
    globalRefusal: spec.globalRefusal,
    roleRefusal: spec.roleRefusal,
    unknownSite: spec.unknownSite,
    refusal: spec.refusal,
    area: spec.path.split("/")[1] ?? "",
    action: spec.action ?? (spec.method === "get" ? "read" : "write"),
    accounts: spec.accounts ?? "admin",
    maxBody: spec.maxBody ?? 256 * 1024,
    mayOmitBody: spec.request.body?.required === false,
    replayable,
    commutes: spec.commutes ?? false,
    secretAnswer: spec.secretAnswer ?? false,
    answersAgain: spec.answersAgain ?? false,
    bodyProves: spec.bodyProves ?? false,
  };
  const route = {
    operationId: spec.operationId,
    method: spec.method,
    path: spec.path,
    tags: [spec.tag],
    summary: spec.summary,
    description: describe(spec, entrance),
    security: spec.credentials.map(securityOf),
    parameters: replayable ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : [],
    middleware: enter(entrance),
    request: spec.request,
    responses: withErrors(spec.responses, errorCodes(spec, replayable)),
  };
  return route;
}

function securityOf(kinds: Credentials[number]): Record<string, string[]> {
  return Object.fromEntries(kinds.map((kind) => [kind, []]));
}

function withErrors<R extends RouteConfig["responses"]>(responses: R, codes: ErrorCode[]): R {
  return { ...errorResponses(codes), ...responses };
}

/** Only what the operation can really answer. */
function errorCodes(
  { credentials, also = [], request, limit, unknownSite, globalRefusal, roleRefusal, errors = [] }: OperationSpec,
  replayable: boolean,
): ErrorCode[] {
  const codes: ErrorCode[] = ["rate_limited", "internal", ...errors];
  const takesAnyone = credentials.some((kinds) => kinds.length === 0);
  const proves = [...credentials, ...also].some((kinds) => kinds.some((kind) => kind !== "provider" && PROOFS.has(kind)));
  if (!takesAnyone) codes.push("unauthenticated");
  if (proves) codes.push("forbidden");
  if (unknownSite !== undefined) codes.push("not_found");
  if (globalRefusal) codes.push(globalRefusal);
  if (roleRefusal) codes.push(roleRefusal);
  if (credentials.some((kinds) => kinds.includes("device"))) codes.push("invalid_request");
  if (Object.keys(request).length > 0) codes.push("invalid_request");
  if (request.body) codes.push("malformed_json", "unsupported_media_type", "payload_too_large");
  if (limit) codes.push("rate_limited");
  if (replayable) codes.push("invalid_request", "idempotency_mismatch", "idempotency_in_flight", "idempotency_unanswered");
  return codes;
}

/** The description, with who may call: OpenAPI 3.0 has no place for it in an API key's security. */
function describe({ description, credentials }: OperationSpec, { area, action, accounts }: Entrance): string {
  // Where some set proves nothing, anybody may call.
  if (!credentials.every((set) => set.some((kind) => PROOFS.has(kind)))) return description;
  const kinds = new Set(credentials.flat());
  const who: string[] = [];
  if (kinds.has("developer")) who.push(`a developer key with the role \`${area}:${action}\``);
  if (kinds.has("bearer")) who.push(ACCOUNTS[accounts]);
  if (kinds.has("provider")) who.push("the stream provider itself");
  if (kinds.has("signature")) who.push("the data provider itself");
  if (kinds.has("stripeSignature")) who.push("Stripe");
  if (kinds.has("super")) who.push("the operator of the deployment");
  return who.length === 0 ? description : `${description}\n\nMay be called by ${who.join(" or ")}.`;
}

const PROOFS = new Set<CredentialKind>(["developer", "bearer", "provider", "signature", "stripeSignature", "super"]);

const ACCOUNTS: Record<Accounts, string> = {
  any: "any signed-in account of the site",
  admin: "a site admin",
  creator: "a site admin, or an admin of the channel that it concerns",
  global: "a global account",
  signedIn: "any signed-in account",
};
