import type { Context } from "hono";
import { readsReplicas, requestDb } from "#db/databases.ts";
import { RequestSessions } from "#db/sessions.ts";
import { Failure, forbidden } from "#worker/lib/errors.ts";
import { isCreator, isSiteAdmin, keyAllows, moderatedChannels } from "#worker/lib/roles.ts";
import type { Actor } from "#worker/services/core/context.ts";
import { Identity } from "#worker/services/auth/identity.ts";
import type { AppEnv, Step } from "#worker/http/app-env.ts";
import type { CredentialKind } from "#worker/http/credentials.ts";
import type { OperationPolicy } from "#worker/http/operation-policy.ts";
import { bufferBody } from "./body.ts";
import { checkCredentials, chooseCredentials, Presented, siteIdOf } from "./check-credentials.ts";
import { confirmCaller } from "./confirm-caller.ts";

/**
 * Prepares the check of the caller's credentials (401, 403) and creates the `ctx`. The check itself runs with the first query, at
 * `ctx.caller()`, or when the handler has finished: most requests need no round trip of their own for it.
 */
export function authenticate({ method, path, access, input }: OperationPolicy): Step {
  const origin = `${method.toUpperCase()} ${path}`;
  return async (c, next) => {
    const now = Date.now();
    const presented = new Presented(c.req);
    const { kinds, wrongKind } = chooseCredentials(access.credentials, presented);
    // A signature covers the whole body.
    if (kinds.includes("signature")) await bufferBody(c, input.maxBytes);
    const check = await checkCredentials(c, kinds, presented, now, access.errors.unknownSite);
    const identity = new Identity(check, (actor) => {
      if (wrongKind) throw forbidden("These credentials are valid, but not of a kind that this operation takes");
      requireAccess(actor, access);
    });
    const isPublic = readsPublicly(c, kinds, access);
    const sessions = readsReplicas(c.env) ? new RequestSessions(isPublic, c.req.header("Tifo-Bookmark")) : undefined;
    const defer = (work: Promise<unknown>): void => c.executionCtx.waitUntil(work);
    c.set("identity", identity);
    c.set("sessions", sessions);
    c.set("ctx", {
      env: c.env,
      siteId: siteIdOf(kinds, presented),
      db: requestDb({
        ...{ env: c.env, siteId: check.siteId, guard: identity, usage: c.get("usage"), sessions },
        sharing: isPublic ? defer : undefined,
      }),
      now,
      requestId: c.get("requestId"),
      origin,
      caller: () => confirmCaller(c),
      deviceId: presented.device,
      claimedAccountId: check.accountId,
      ifMatch: access.action === "write" ? parseIfMatch(c.req.header("If-Match")) : undefined,
      emitted: { siteIds: new Set(), completedEventIds: [] },
      defer,
    });
    await next();
  };
}

/**
 * Whether a request only reads, without a secret, as any viewer may: what it reads may come from a replica, and is shared with requests that
 * read the same at the same time. Keys, roles and sessions are verified with the rows that they give access to, so all of these come from
 * the primary, and a revocation takes effect at once.
 */
function readsPublicly(c: Context<AppEnv, string>, kinds: readonly CredentialKind[], access: OperationPolicy["access"]): boolean {
  if (access.readsPrimary || access.action === "write" || !["GET", "HEAD"].includes(c.req.method)) return false;
  return kinds.length > 0 && kinds.every((kind) => PUBLIC.has(kind));
}

/** What identifies a site or a device, and proves nothing. */
const PUBLIC = new Set<CredentialKind>(["client", "clientQuery", "device"]);

/** Throws the 403 for a confirmed caller whose roles don't suffice. */
export function requireAccess(actor: Actor, { accounts, action, area, errors }: OperationPolicy["access"]): void {
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
      if (accounts === "chatModerator" && moderatedChannels(actor.roles, "Chat_Moderator", action).length > 0) return;
      if (accounts === "questionModerator" && moderatedChannels(actor.roles, "Question_Answer_Moderator", action).length > 0) return;
      throw errors.missingRole ? new Failure(errors.missingRole) : forbidden("The account's roles do not allow this");
  }
}

/** Our entity tags are `"v<version>"` or `"v<version>-<hash>"`; others can't match and become version 0. */
function parseIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  return header.split(",").map((tag) => Number(/^\s*"v(\d+)(?:-\w+)?"\s*$/.exec(tag)?.[1] ?? 0));
}
