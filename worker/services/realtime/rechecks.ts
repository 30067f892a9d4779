import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { presenceOf } from "./realtime.ts";

const Held = z.object({ accountId: z.string().nullable(), status: z.string().optional() });

/**
 * Has the sockets of an account looked at again, where an event may have ended the right to them: a session that was ended, a new password,
 * other roles or a deletion; an entitlement that gives no access any more, or not for ever; a login code that was deleted. Safe to repeat.
 */
export async function recheckViewers(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const accountId = concerned(event);
  if (accountId !== null) await presenceOf(env, siteId).recheck([accountId]);
}

function concerned({ type, resource, data }: LogEntry): string | null {
  if (type === "new_account") return null;
  // Whatever happens to an account, so that no event of one is forgotten here.
  if (resource.startsWith("account/")) return resource.slice("account/".length);
  if (!type.startsWith("entitlement_") && type !== "accesscode.deleted") return null;
  const held = Held.safeParse(JSON.parse(data)).data;
  return held && held.status !== "active" ? held.accountId : null;
}
