import type { RouteConfig } from "@hono/zod-openapi";
import type { ErrorCode } from "#worker/lib/errors.ts";
import type { CredentialKind, Credentials } from "./credentials.ts";
import { errorResponses } from "./errors.ts";
import { inOrder, pipelineOf } from "./middleware/pipeline.ts";
import { type Accounts, type OperationPolicy, type OperationSpec, policyOf } from "./operation-policy.ts";

/** The parts that determine a handler's types. */
type Route<S extends OperationSpec> = Pick<S, "method" | "path" | "request" | "responses">;

/** Rejects fields that no operation has: TypeScript itself doesn't see them in an object that is spread in. */
type Exact<S> = { [Unknown in Exclude<keyof S, keyof OperationSpec>]: never };

/** Turns a declaration into a route for `area.openapi(route, handler)`. */
export function operation<const S extends OperationSpec>(spec: S & Exact<S>): Route<S> {
  const policy = policyOf(spec);
  const route = {
    operationId: spec.operationId,
    method: spec.method,
    path: spec.path,
    tags: [spec.tag],
    summary: spec.summary,
    description: describe(spec, policy),
    security: spec.access.credentials.map(securityOf),
    parameters: policy.retries.takesKey ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : [],
    middleware: inOrder(pipelineOf(policy)),
    request: spec.request,
    responses: withErrors(spec.responses, errorCodes(spec, policy)),
  };
  return route;
}

function securityOf(kinds: Credentials[number]): Record<string, string[]> {
  return Object.fromEntries(kinds.map((kind) => [kind, []]));
}

function withErrors<R extends RouteConfig["responses"]>(responses: R, codes: ErrorCode[]): R {
  return { ...errorResponses(codes), ...responses };
}

/** The codes that the operation can actually return. */
function errorCodes(
  { access, method, request, limit, errors = [] }: OperationSpec,
  { access: { credentials: accepted }, retries }: OperationPolicy,
): ErrorCode[] {
  const { credentials, errors: { unknownSite, globalAccount, missingRole } = {} } = access;
  const codes: ErrorCode[] = ["rate_limited", "internal", ...errors];
  const takesAnyone = credentials.some((kinds) => kinds.length === 0);
  const proves = accepted.some((kinds) => kinds.some((kind) => kind !== "provider" && PROOFS.has(kind)));
  // A write waits while its site moves to another database, for ten seconds at most.
  if (method !== "get") codes.push("unavailable");
  if (!takesAnyone) codes.push("unauthenticated");
  if (proves) codes.push("forbidden");
  if (unknownSite !== undefined) codes.push("not_found");
  if (globalAccount) codes.push(globalAccount);
  if (missingRole) codes.push(missingRole);
  if (credentials.some((kinds) => kinds.includes("device"))) codes.push("invalid_request");
  if (Object.keys(request).length > 0) codes.push("invalid_request");
  if (request.body) codes.push("malformed_json", "unsupported_media_type", "payload_too_large");
  if (limit) codes.push("rate_limited");
  if (retries.takesKey) codes.push("invalid_request", "idempotency_mismatch", "idempotency_in_flight", "idempotency_unanswered");
  return codes;
}

/** The description with the allowed callers: OpenAPI 3.0 can't express them for API keys. */
function describe(
  { description, access: { credentials } }: OperationSpec,
  { access: { area, action, accounts } }: OperationPolicy,
): string {
  // If a set needs no proof, anyone may call.
  if (!credentials.every((set) => set.some((kind) => PROOFS.has(kind)))) return description;
  const kinds = new Set(credentials.flat());
  const callers: string[] = [];
  if (kinds.has("developer")) callers.push(`a developer key with the role \`${area}:${action}\``);
  if (kinds.has("bearer")) callers.push(ACCOUNTS[accounts]);
  if (kinds.has("provider")) callers.push("the stream provider itself");
  if (kinds.has("signature")) callers.push("the data provider itself");
  if (kinds.has("stripeSignature")) callers.push("Stripe");
  if (kinds.has("shopifySignature")) callers.push("Shopify");
  if (kinds.has("super")) callers.push("the operator of the deployment");
  return callers.length === 0 ? description : `${description}\n\nCallable by ${callers.join(" or ")}.`;
}

const PROOFS = new Set<CredentialKind>(["developer", "bearer", "provider", "signature", "stripeSignature", "shopifySignature", "super"]);

const ACCOUNTS: Record<Accounts, string> = {
  any: "any signed-in account of the site",
  admin: "a site admin",
  creator: "a site admin, or an admin of the affected channel",
  chatModerator: "a site admin, an admin of the affected channel, or one of its chat moderators",
  questionModerator: "a site admin, an admin of the affected channel, or one of its Q&A moderators",
  global: "a global account",
  signedIn: "any signed-in account",
};
