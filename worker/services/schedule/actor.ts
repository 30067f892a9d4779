import { sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { ROLE_SCOPES } from "#db/enums.ts";
import { accounts } from "#db/schema/accounts.ts";
import { apiKeys } from "#db/schema/sites.ts";
import type { ScheduledBy } from "#db/types.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { effectiveRoles } from "#worker/services/accounts/role-rules.ts";
import { type Actor, type Ctx, ownRow } from "#worker/services/core/context.ts";

const Roles = z.array(z.object({ scope: z.enum(ROLE_SCOPES), pageId: z.array(z.string()), write: z.boolean() }));

/** Who arranged something for later, with the rights that they have now; nobody is the system itself. */
export async function currentActor(ctx: Ctx, scheduledBy: ScheduledBy | null): Promise<Actor> {
  if (scheduledBy === null) return { kind: "system" };
  const { kind, id } = scheduledBy;
  if (kind === "developer") {
    const [key] = await ctx.db
      .select({ roles: apiKeys.roles, expires: apiKeys.expires })
      .from(apiKeys)
      .where(ownRow(ctx, apiKeys, id));
    if (!key || (key.expires !== null && key.expires <= ctx.now)) throw forbidden("The developer key that scheduled it no longer works");
    return { kind, id, roles: key.roles };
  }
  const [account] = await ctx.db
    .select({ roles: sql<string>`${effectiveRoles}`.as("roles"), tags: accounts.tags })
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw forbidden("The account that scheduled it was deleted");
  return { kind, id, sessionId: "", roles: Roles.parse(JSON.parse(account.roles)), tags: account.tags };
}
