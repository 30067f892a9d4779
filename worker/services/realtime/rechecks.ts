import { and, eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { presenceOf } from "#worker/durable-objects/stubs.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { rolesAreSuspended } from "#worker/services/accounts/role-rules.ts";

/** Besides those of entitlements, and every event of an account. */
const RECHECKED_TYPES: ReadonlySet<string> = new Set(["site.updated", "overlay.outputRevoked", "account.tagsAdded", "accesscode.deleted"]);

const AccessData = z.object({ accountId: z.string().nullable() });
const TaggedData = z.object({ accounts: z.array(z.object({ _id: z.string() })) });

/**
 * Rechecks an account's sockets after an event that may end its access: an ended session, a new password, changed roles, roles that no
 * longer count or a deletion; an entitlement; a deleted login code. Also if it may change its segments: tags, roles, entitlements. And the
 * sockets of an output that is revoked. Safe to repeat.
 */
export async function recheckViewers(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const ownerIds = event.type === "site.updated" ? await staffWithoutApp(env, siteId) : affectedOwners(event);
  if (ownerIds.length > 0) await presenceOf(env, siteId).recheck(ownerIds);
}

/** A site that starts to require authenticator apps voids the roles of staff who have none. */
async function staffWithoutApp(env: Env, siteId: string): Promise<string[]> {
  const rows = await siteDb(env, siteId)
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.siteId, siteId), rolesAreSuspended));
  return rows.map(({ id }) => id);
}

/** False only if `recheckViewers` does nothing for such an event, whatever its data. */
export function mayRecheckViewers({ type, resource }: Pick<LogEntry, "type" | "resource">): boolean {
  if (type === "new_account") return false;
  return RECHECKED_TYPES.has(type) || type.startsWith("entitlement_") || resource.startsWith("account/");
}

function affectedOwners(event: LogEntry): string[] {
  if (!mayRecheckViewers(event)) return [];
  const { type, resource, data } = event;
  if (type === "overlay.outputRevoked") return [resource.slice("output/".length)];
  if (type === "account.tagsAdded") return TaggedData.parse(JSON.parse(data)).accounts.map(({ _id }) => _id);
  // Every account event, so that none can be missed here.
  if (resource.startsWith("account/")) return [resource.slice("account/".length)];
  const entitlement = AccessData.safeParse(JSON.parse(data)).data;
  return entitlement?.accountId ? [entitlement.accountId] : [];
}
