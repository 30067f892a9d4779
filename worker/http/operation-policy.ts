import type { RouteConfig } from "@hono/zod-openapi";
import type { Action } from "#worker/lib/roles.ts";
import type { ErrorCode } from "#worker/lib/errors.ts";
import type { LimitName } from "#worker/lib/limits.ts";
import type { Credentials } from "./credentials.ts";

/**
 * Which accounts may call with a bearer token: any of the site, a site admin, also a channel admin, also a moderator of the chat or of the
 * Q&A, a global one, or any of either kind.
 */
export type Accounts = "any" | "admin" | "creator" | "chatModerator" | "questionModerator" | "global" | "signedIn";

/** Who may call. */
interface AccessSpec {
  credentials: Credentials;
  /** Credentials that are accepted but not required; with them, the response may contain more. */
  optional?: Credentials;
  /** "admin" by default. */
  accounts?: Accounts;
  /** What a key's roles and an account's role must allow: by default "read" for GET, "write" for every other method. */
  action?: Action;
  /** A read without credentials that never uses a replica, because what it returns admits somebody. */
  readsPrimary?: boolean;
  /** Errors that integrators rely on, in place of the usual ones. */
  errors?: {
    /** The message of a 404 for an unknown client id, in place of the 401. */
    unknownSite?: string;
    /** The error for a global sign-in, in place of the 403. */
    globalAccount?: ErrorCode;
    /** The error for an account whose roles don't suffice, in place of the 403. */
    missingRole?: ErrorCode;
  };
}

interface InputSpec {
  /** 256 kB by default. */
  maxBytes?: number;
  /** The `message` of the 400 for a body that isn't JSON or doesn't match the schema, where integrators rely on one. */
  invalidMessage?: string;
  /** Reads a body sent as text/plain as JSON, because `navigator.sendBeacon` can send JSON to another origin only after a preflight. */
  readsText?: boolean;
}

export interface LimitSpec {
  /** Each call takes one from this limit. */
  name: LimitName;
  /** The verb reads before it does anything else: the limit is taken with that read, which saves a round trip to check the caller first. */
  withFirstRead?: boolean;
}

/** How repeated and concurrent requests are handled. */
interface RetriesSpec {
  /**
   * What a repeated Idempotency-Key returns: the stored response (default); a response that the verb builds again from `ctx.receipt`,
   * for responses too large or too secret to store; or, with "none", an error, because the response contains a secret.
   */
  replay?: "response" | "receipt" | "none";
  /** What an Idempotency-Key belongs to: the caller (default), or the body where the body itself is the credential. */
  keyOwner?: "caller" | "body";
  /** The change doesn't depend on concurrent changes, like an addition: it is retried until it succeeds. */
  commutes?: boolean;
}

/** The declaration of one operation: the OpenAPI document, the enforcement and the handler's types all come from it. */
export interface OperationSpec {
  operationId: string;
  tag: string;
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Without a trailing slash; requests may have one. */
  path: string;
  summary: string;
  description: string;
  access: AccessSpec;
  /** Parameters, query and body; `{}` for none. */
  request: NonNullable<RouteConfig["request"]>;
  input?: InputSpec;
  responses: RouteConfig["responses"];
  /** Codes in addition to those that follow from access and request. */
  errors?: readonly ErrorCode[];
  limit?: LimitSpec;
  retries?: RetriesSpec;
}

/** The spec with its defaults filled in, as the middleware reads it. */
export interface OperationPolicy {
  operationId: string;
  method: OperationSpec["method"];
  path: string;
  access: {
    /** The optional sets, then the required ones. */
    credentials: Credentials;
    accounts: Accounts;
    /** The first segment of the path, which the roles of developer keys name. */
    area: string;
    action: Action;
    readsPrimary: boolean;
    errors: NonNullable<AccessSpec["errors"]>;
  };
  input: { maxBytes: number; invalidMessage: string | undefined; isJson: boolean; isBodyOptional: boolean; readsText: boolean };
  limit: LimitSpec | undefined;
  retries: Required<RetriesSpec> & { takesKey: boolean };
}

const MAX_BYTES = 256 * 1024;

export function policyOf({ operationId, path, method, access, request, input, limit, retries }: OperationSpec): OperationPolicy {
  return {
    operationId,
    method,
    path,
    access: {
      credentials: [...(access.optional ?? []), ...access.credentials],
      accounts: access.accounts ?? "admin",
      area: path.split("/")[1] ?? "",
      action: access.action ?? (method === "get" ? "read" : "write"),
      readsPrimary: access.readsPrimary ?? false,
      errors: access.errors ?? {},
    },
    input: {
      maxBytes: input?.maxBytes ?? MAX_BYTES,
      invalidMessage: input?.invalidMessage,
      isJson: request.body?.content["application/json"] !== undefined,
      isBodyOptional: request.body?.required === false,
      readsText: input?.readsText ?? false,
    },
    limit,
    retries: {
      takesKey: method === "post" || method === "put" || method === "patch",
      replay: retries?.replay ?? "response",
      keyOwner: retries?.keyOwner ?? "caller",
      commutes: retries?.commutes ?? false,
    },
  };
}
