import { and, eq, getTableColumns, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import { broadcasts } from "#db/schema/overlays.ts";
import { rundownTakes } from "#db/schema/rundowns.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { NamedTake } from "./schemas.ts";

// Reading of takes. Plain column names, because drizzle omits the table's in a select of one table.

const TAKEN_BY = "rundown_takes.taken_by";
const CLEARED_BY = "rundown_takes.cleared_by";

/** The columns of a take, with the current names of who took and cleared it, and when the overlay API cleared it. */
export const takeColumns = {
  ...getTableColumns(rundownTakes),
  clearedAt: sql<number | null>`coalesce(rundown_takes.cleared_at, (select cleared_at from broadcasts
    where broadcasts.id = rundown_takes.id and broadcasts.channel_id = rundown_takes.channel_id))`.as("cleared_at"),
  takenByName: credentialName(TAKEN_BY, "taken_by_name"),
  clearedByName: credentialName(CLEARED_BY, "cleared_by_name"),
};

/** The current name of an account or key; null if it is gone. */
export function nameSql(kind: SQL, id: SQL, alias: string): SQL.Aliased<string | null> {
  return sql<string | null>`case ${kind} when 'account' then (select name from accounts where accounts.id = ${id})
    else (select name from api_keys where api_keys.id = ${id}) end`.as(alias);
}

function credentialName(column: string, alias: string): SQL.Aliased<string | null> {
  const credential = sql.raw(column);
  return nameSql(sql`${credential} ->> 'kind'`, sql`${credential} ->> 'id'`, alias);
}

/** The take of a generation or, of an automatic one, of its cause. */
export function selectTake(ctx: Ctx, rundownId: string, generation: number, cause: string | null = null) {
  const { siteId } = rundownTakes;
  const which = or(eq(rundownTakes.generation, generation), cause === null ? undefined : eq(rundownTakes.cause, cause));
  return ctx.db
    .select(takeColumns)
    .from(rundownTakes)
    .where(and(eq(siteId, ctx.siteId), eq(rundownTakes.rundownId, rundownId), which))
    .limit(1);
}

/** The rundown's broadcasts that are on air; reads only the site's active broadcasts. */
export function selectOnAir(ctx: Ctx, rundownId: string) {
  return ctx.db
    .select(takeColumns)
    .from(broadcasts)
    .innerJoin(rundownTakes, and(eq(rundownTakes.id, broadcasts.id), eq(rundownTakes.channelId, broadcasts.channelId)))
    .where(
      and(
        eq(broadcasts.siteId, ctx.siteId),
        gt(broadcasts.endsAt, ctx.now),
        isNull(broadcasts.clearedAt),
        eq(rundownTakes.siteId, ctx.siteId),
        eq(rundownTakes.rundownId, rundownId),
      ),
    )
    .orderBy(rundownTakes.generation);
}

export async function findTake(
  ctx: Ctx,
  rundownId: string,
  generation: number,
  cause: string | null = null,
): Promise<NamedTake | undefined> {
  const [take] = await selectTake(ctx, rundownId, generation, cause);
  return take;
}
