import { and, eq, isNull, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { ROLE_SCOPES } from "#db/enums.ts";
import { accounts, sessions } from "#db/schema/accounts.ts";
import { apiKeys } from "#db/schema/sites.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";

const Roles = z.array(z.object({ scope: z.enum(ROLE_SCOPES), pageId: z.array(z.string()), write: z.boolean() }));

/** Throws unless the caller may still do this, with the rights that it has by now: for responses that are sent page by page. */
export async function requireStillAllowed(ctx: Ctx, isAllowed: (actor: Actor) => boolean): Promise<void> {
  const actor = await actorNow(ctx, await ctx.caller(), Date.now());
  if (!actor || !isAllowed(actor)) throw forbidden("The caller has lost the permission meanwhile");
}

/**
 * A key or account with the rights that it has by now; null if the key or the account is gone, or the account's session has ended. An
 * account without a session is only looked up.
 */
export async function actorNow(ctx: Pick<Ctx, "db" | "siteId">, actor: Actor, now: number): Promise<Actor | null> {
  if (actor.kind === "developer") {
    const [key] = await ctx.db
      .select({ roles: apiKeys.roles, expires: apiKeys.expires })
      .from(apiKeys)
      .where(and(eq(apiKeys.siteId, ctx.siteId), eq(apiKeys.id, actor.id)));
    return !key || (key.expires !== null && key.expires <= now) ? null : { ...actor, roles: key.roles };
  }
  if (actor.kind !== "account") return actor;
  const isOpen = sql`exists (select 1 from ${sessions} where ${and(
    eq(sessions.id, actor.sessionId),
    eq(sessions.accountId, accounts.id),
    eq(sessions.passwordVersion, accounts.passwordVersion),
    isNull(sessions.revoked),
  )})`;
  const [account] = await ctx.db
    .select({ roles: sql<string>`${effectiveRoles}`.as("roles"), tags: accounts.tags })
    .from(accounts)
    .where(and(eq(accounts.siteId, ctx.siteId), eq(accounts.id, actor.id), actor.sessionId === "" ? undefined : isOpen));
  return account ? { ...actor, roles: Roles.parse(JSON.parse(account.roles)), tags: account.tags } : null;
}
