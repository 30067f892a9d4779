import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { presenceOf } from "./realtime.ts";

const AccessData = z.object({ accountId: z.string().nullable(), status: z.string().optional() });

/**
 * Rechecks an account's sockets after an event that may end its access: an ended session, a new password, changed roles or a deletion; an
 * entitlement that no longer gives access, or only for a limited time; a deleted login code. Safe to repeat.
 */
export async function recheckViewers(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const accountId = affectedAccount(event);
  if (accountId !== null) await presenceOf(env, siteId).recheck([accountId]);
}

function affectedAccount({ type, resource, data }: LogEntry): string | null {
  if (type === "new_account") return null;
  // Every account event, so that none can be missed here.
  if (resource.startsWith("account/")) return resource.slice("account/".length);
  if (!type.startsWith("entitlement_") && type !== "accesscode.deleted") return null;
  const entitlement = AccessData.safeParse(JSON.parse(data)).data;
  return entitlement && entitlement.status !== "active" ? entitlement.accountId : null;
}
