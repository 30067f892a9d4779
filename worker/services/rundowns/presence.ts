import { and, eq } from "drizzle-orm";
import { rundownOperators } from "#db/schema/rundowns.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { notifyOperators, selectOperators, toOperators } from "./operators.ts";
import { getRundown } from "./rundowns.ts";
import type { PresentOperator } from "./schemas.ts";

/** Renews or ends the caller's presence, and returns who else has the rundown open. Others are notified when somebody comes or goes. */
export async function announceOperator(ctx: Ctx, id: string, open: boolean): Promise<PresentOperator[]> {
  const { channelId } = await getRundown(ctx, id, "read");
  const actor = await ctx.caller();
  if (actor.kind !== "developer" && actor.kind !== "account") throw forbidden("Only keys and accounts of the site operate rundowns");
  const own = and(eq(rundownOperators.rundownId, id), eq(rundownOperators.operatorId, actor.id));
  const row = { siteId: ctx.siteId, rundownId: id, kind: actor.kind, operatorId: actor.id, seenAt: ctx.now };
  const [before, , operators] = await ctx.db.batch([
    selectOperators(ctx, id),
    open
      ? ctx.db
          .insert(rundownOperators)
          .values(row)
          .onConflictDoUpdate({ target: [rundownOperators.rundownId, rundownOperators.operatorId], set: { seenAt: ctx.now } })
      : ctx.db.delete(rundownOperators).where(and(eq(rundownOperators.siteId, ctx.siteId), own)),
    selectOperators(ctx, id),
  ]);
  if (before.some((operator) => operator.id === actor.id) !== open)
    ctx.defer(
      notifyOperators(ctx.env, ctx.siteId, channelId, id).catch((error: unknown) =>
        logError("operators_not_notified", error, { siteId: ctx.siteId }),
      ),
    );
  return toOperators(ctx, operators);
}
