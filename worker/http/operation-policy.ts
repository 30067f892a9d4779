import type { RouteConfig } from "@hono/zod-openapi";
import type { Action } from "#worker/lib/roles.ts";
import type { ErrorCode } from "#worker/lib/errors.ts";
import type { LimitName } from "#worker/lib/limits.ts";
import type { Credentials } from "./credentials.ts";

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
export type OperationPolicy = Pick<
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
