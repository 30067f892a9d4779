import { presenceOf } from "#worker/durable-objects/stubs.ts";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { ownRows } from "#worker/services/core/context.ts";
import { fittingTags } from "./tickets.ts";

/** Updates the tags of these accounts' open sockets. Safe to repeat, also out of order. */
export async function retagViewers(env: Env, siteId: string, accountIds: string[]): Promise<void> {
  const rows = await siteDb(env, siteId)
    .select({ accountId: accounts.id, tags: accounts.tags })
    .from(accounts)
    .where(ownRows({ siteId }, accounts, accountIds));
  if (rows.length > 0) await presenceOf(env, siteId).retag(rows.map(({ accountId, tags }) => ({ accountId, tags: fittingTags(tags) })));
}
