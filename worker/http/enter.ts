import { bodyLimit } from "hono/body-limit";
import type { Context, MiddlewareHandler } from "hono";
import { createDb } from "#db/client.ts";
import { Failure, forbidden, invalid, notFound } from "#worker/lib/errors.ts";
import { isCreator, isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import { type Actor, nudgeLogs } from "#worker/services/core/context.ts";
import { Identity } from "#worker/services/auth/identity.ts";
import type { AppEnv } from "./app-env.ts";
import { checkCredentials, chooseCredentials, Presented, siteIdOf } from "./credentials.ts";
import { answerOnce } from "./idempotency.ts";
import { takeLimit } from "./limits.ts";
import type { OperationPolicy } from "./operation-policy.ts";

const DEVICE_ID = /^[\x21-\x7e]{1,200}$/;

/**
 * What every operation does before its input is looked at: who calls (401), may they (403), is the body of a size (413), was this
 * Idempotency-Key answered before. Validation and the handler follow, whose first `ctx.caller()` asks whether there is quota (429).
 */
export function enter(policy: OperationPolicy): MiddlewareHandler<AppEnv> {
  const { maxBytes, isBodyOptional } = policy.input;
  const limitBody = bodyLimit({
    maxSize: maxBytes,
    onError: async (c: Context<AppEnv>) => {
      await c.var.ctx.caller();
      throw tooLarge(maxBytes);
    },
  });
  return async (c, next) => {
    c.set("route", policy.path);
    c.set("refusal", policy.input.invalidMessage);
    c.set("commutes", policy.retries.commutes);
    const now = Date.now();
    const presented = new Presented(c.req);
    const { kinds, wrongKind } = chooseCredentials(policy.access.credentials, presented);
    if (kinds.includes("signature")) await boundBody(c, maxBytes);
    const { unknownSite } = policy.access.errors;
    const siteNotFound = unknownSite === undefined ? undefined : notFound(unknownSite);
    const check = await checkCredentials(c, kinds, presented, now, siteNotFound);
    const identity = new Identity(check, (actor) => {
      if (wrongKind) throw forbidden("These credentials are valid, but not of a kind that this operation takes");
      admit(actor, policy.access);
    });
    c.set("identity", identity);
    const { limit } = policy;
    let taken: Promise<void> | undefined;
    c.set("ctx", {
      env: c.env,
      siteId: siteIdOf(kinds, presented),
      db: createDb(c.env.DB, identity, c.get("usage")),
      now,
      requestId: c.get("requestId"),
      origin: `${c.req.method} ${policy.path}`,
      // With the limit of the operation, so that a verb that asks after its first read spends no round trip on it.
      caller: async () => {
        const actor = await identity.confirm(c.env.DB, c.get("usage"));
        if (limit) await (taken ??= takeLimit(c, limit.name, actor));
        return actor;
      },
      deviceId: presented.device,
      claimedAccountId: check.accountId,
      ifMatch: policy.access.action === "write" ? parseIfMatch(c.req.header("If-Match")) : undefined,
      emitted: { siteIds: new Set(), completedEventIds: [] },
      defer: (work) => c.executionCtx.waitUntil(work),
    });
    const proceed = async (): Promise<void> => {
      await next();
      nudgeLogs(c.get("ctx"));
      // Whoever never asked D1 is confirmed at the end, and before a refusal is told: 401 and 403 come first.
      if (identity.pending()) await identity.confirm(c.env.DB, c.get("usage"));
      if (limit && !taken && c.res.ok) throw new Error(`${policy.operationId} acted without ctx.caller(), which takes its limit`);
    };
    const repeatable = policy.retries.takesKey && c.req.header("Idempotency-Key") !== undefined;
    const run = async (): Promise<void> => {
      if (isBodyOptional) await dropEmptyBody(c);
      return repeatable ? answerOnce(c, policy, proceed) : proceed();
    };
    if (kinds.includes("device") && !DEVICE_ID.test(presented.device ?? "")) {
      await identity.confirm(c.env.DB, c.get("usage"));
      throw invalid("Tifo-Device-Id", "The header Tifo-Device-Id is required: 1 to 200 printable characters without spaces");
    }
    const length = c.req.header("Content-Length");
    // The length first: asking for the body makes a stream of it.
    if ((length !== undefined && Number(length) <= maxBytes) || c.req.raw.body === null) return run();
    await limitBody(c, run);
  };
}

/** Reads a body that a check of credentials has to read whole, as far as it may go; whoever reads it after gets what was read. */
async function boundBody(c: Context<AppEnv>, maxBody: number): Promise<void> {
  const { body, url, method, headers } = c.req.raw;
  if (!body) return;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > maxBody) throw tooLarge(maxBody);
    chunks.push(chunk.slice());
  }
  c.req.raw = new Request(url, { method, headers, body: new Blob(chunks) });
}

/** Some clients send the Content-Type of a body that they leave out: without it, nobody looks for JSON in nothing. */
async function dropEmptyBody(c: Context<AppEnv>): Promise<void> {
  if (c.req.header("Content-Type") === undefined || (await c.req.text()) !== "") return;
  const headers = new Headers(c.req.raw.headers);
  headers.delete("Content-Type");
  c.req.raw = new Request(c.req.raw.url, { method: c.req.raw.method, headers });
}

function tooLarge(maxBody: number): Failure {
  return new Failure("payload_too_large", `The body may have at most ${maxBody} bytes`);
}

function admit(actor: Actor, { accounts, action, area, errors }: OperationPolicy["access"]): void {
  switch (actor.kind) {
    case "anonymous":
    case "provider":
    case "dataProvider":
    case "super":
    case "system":
      return;
    case "developer":
      if (!keyAllows(actor.roles, area, action)) throw forbidden(`The developer key lacks the role ${area}:${action}`);
      return;
    case "global":
      if (accounts === "global" || accounts === "signedIn") return;
      throw errors.globalAccount
        ? new Failure(errors.globalAccount)
        : forbidden("A global sign-in manages no site; sign in with its siteId");
    case "account":
      if (accounts === "global") throw forbidden("Sign in without a siteId for the global operations");
      if (accounts === "any" || accounts === "signedIn" || isSiteAdmin(actor.roles, action)) return;
      if (accounts === "creator" && isCreator(actor.roles, action)) return;
      throw errors.missingRole ? new Failure(errors.missingRole) : forbidden("The account's roles do not allow this");
  }
}

/** Entity tags of ours are `"v<version>"` or `"v<version>-<hash>"`; others can't match and stand as version 0. */
function parseIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  return header.split(",").map((tag) => Number(/^\s*"v(\d+)(?:-\w+)?"\s*$/.exec(tag)?.[1] ?? 0));
}
