import { and, eq, gt, lt, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { rundownOperators } from "#db/schema/rundowns.ts";
import { channelOf } from "#worker/durable-objects/stubs.ts";
import { managesPage } from "#worker/lib/roles.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { PresentOperator } from "./schemas.ts";
import { nameSql } from "./takes.ts";

/** An operator who hasn't renewed their presence for this long has left. */
const PRESENT_MS = 30_000;
const RETENTION_MS = 86_400_000;

interface OperatorRow {
  kind: "developer" | "account";
  id: string;
  name: string | null;
  seenAt: number;
}

/** Selects who has a rundown open, for use in a batch. */
export function selectOperators(ctx: Ctx, rundownId: string) {
  const { kind, operatorId, seenAt, siteId } = rundownOperators;
  return ctx.db
    .select({ kind, id: operatorId, seenAt, name: nameSql(sql`rundown_operators.kind`, sql`rundown_operators.operator_id`, "name") })
    .from(rundownOperators)
    .where(and(eq(siteId, ctx.siteId), eq(rundownOperators.rundownId, rundownId), gt(seenAt, ctx.now - PRESENT_MS)));
}

export async function toOperators(ctx: Ctx, rows: OperatorRow[]): Promise<PresentOperator[]> {
  const actor = await ctx.caller();
  return rows.map(({ kind, id, name, seenAt }) => ({ kind, id, name, seenAt, isCaller: "id" in actor && actor.id === id }));
}

/** Tells those who may run the channel that a rundown has changed. Viewers receive nothing. */
export async function notifyOperators(env: Env, siteId: string, channelId: string, rundownId: string): Promise<void> {
  const staff = await siteDb(env, siteId)
    .select({ id: accounts.id, roles: accounts.roles })
    .from(accounts)
    .where(and(eq(accounts.siteId, siteId), sql`${accounts.roles} <> '[]'`));
  const accountIds = staff.filter(({ roles }) => managesPage(roles, channelId, "read")).map(({ id }) => id);
  if (accountIds.length > 0) await channelOf(env, siteId, channelId).notifyAccounts(accountIds, { type: "rundown.changed", rundownId });
}

/** Deletes who has left more than a day ago. */
export async function pruneOperators({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(rundownOperators).where(lt(rundownOperators.seenAt, now - RETENTION_MS));
}
