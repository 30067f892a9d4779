import { eq, sql } from "drizzle-orm";
import { forgetShard, shardOf, shardsOf } from "#db/databases.ts";
import { sandboxes } from "#db/schema/sandboxes.ts";
import { siteMoves, type SiteMoveRow } from "#db/schema/databases/site-moves.ts";
import { sites } from "#db/schema/sites.ts";
import { conflict, invalid, notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { directoryOf, shardDbOf } from "#worker/services/core/databases.ts";
import { cancel, enqueueMove, unfinishedMove } from "./steps.ts";

// Only for the operator.

/** Starts to move a site to another database. One move at a time, because its triggers are named by their tables. */
export async function startMove(ctx: Ctx, siteId: string, toShard: number): Promise<SiteMoveRow> {
  await ctx.caller();
  forgetShard(siteId);
  const fromShard = await shardOf(ctx.env, siteId);
  const db = shardDbOf(ctx, fromShard);
  const [[site], [sandbox]] = await db.batch([
    db.select({ id: sites.id }).from(sites).where(eq(sites.id, siteId)),
    db.select({ id: sandboxes.siteId }).from(sandboxes).where(eq(sandboxes.siteId, siteId)),
  ]);
  if (!site) throw notFound("Site not found");
  if (sandbox) throw conflict("A sandbox can't be moved");
  if (shardsOf(ctx.env).size === 1) throw conflict("The deployment has one database");
  if (!shardsOf(ctx.env).has(toShard)) throw invalid("shard", `No database is bound as DB_${toShard}`);
  if (toShard === fromShard) throw conflict("The site is in this database");
  const { now } = ctx;
  const move: SiteMoveRow = {
    ...{ siteId, fromShard, toShard, phase: "starting", tableIndex: 0, lastRow: 0, rows: 0, message: null },
    ...{ started: now, switched: null, completed: null, lease: now, attempts: 0, version: now },
  };
  const directory = directoryOf(ctx);
  const [started] = await directory
    .insert(siteMoves)
    .select(
      sql`select ${siteId}, ${fromShard}, ${toShard}, 'starting', 0, 0, 0, null, ${now}, null, null, ${now}, 0, ${now}
        where not exists (select 1 from ${siteMoves} where ${unfinishedMove})`,
    )
    .onConflictDoUpdate({ target: siteMoves.siteId, set: { ...move, version: sql`max(${now}, ${siteMoves.version} + 1)` } })
    .returning();
  if (!started) throw conflict("A site is already being moved");
  forgetShard(siteId);
  ctx.defer(enqueueMove(ctx.env, siteId));
  return started;
}

export async function getMove(ctx: Ctx, siteId: string): Promise<SiteMoveRow> {
  await ctx.caller();
  const [move] = await directoryOf(ctx).select().from(siteMoves).where(eq(siteMoves.siteId, siteId));
  if (!move) throw notFound("The site has never been moved");
  return move;
}

/** Puts everything back, unless the site is already in the other database. */
export async function cancelMove(ctx: Ctx, siteId: string): Promise<SiteMoveRow> {
  const move = await getMove(ctx, siteId);
  if (!(await cancel(ctx.env, siteId)))
    throw conflict(move.phase === "cancelled" ? "The move was cancelled" : "The site is in the other database; move it back");
  ctx.defer(enqueueMove(ctx.env, siteId));
  return getMove(ctx, siteId);
}
