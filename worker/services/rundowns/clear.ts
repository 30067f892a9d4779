import { and, eq, sql } from "drizzle-orm";
import { broadcasts } from "#db/schema/overlays.ts";
import { rundownTakes } from "#db/schema/rundowns.ts";
import type { ScheduledBy } from "#db/types.ts";
import { orUnavailable } from "#worker/durable-objects/stubs.ts";
import { forbidden, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { commit, type Ctx, type NewEvent, nudgeAgain, ownRows, requirePage } from "#worker/services/core/context.ts";
import { type ClearEvent, clearBroadcasts, sendClear } from "#worker/services/overlays/broadcasts.ts";
import { selectRundown } from "./rundowns.ts";
import type { RundownClearInput } from "./schemas.ts";
import { RECEIPT_GRACE_MS } from "./take.ts";
import { selectOnAir } from "./takes.ts";

const LATE = "The request was accepted, but the channel did not respond; it will be cleared as soon as the channel is available";

/** Takes broadcasts off air: those of an item, of a take, all of the rundown, or all of the channel. Repeating it changes nothing. */
export async function clearRundown(ctx: Ctx, id: string, { itemId, takeId, all }: RundownClearInput): Promise<string[]> {
  const [[rundown], onAir] = await ctx.db.batch([selectRundown(ctx, id), selectOnAir(ctx, id)]);
  if (!rundown) throw notFound("Rundown not found");
  const { channelId } = rundown;
  await requirePage(ctx, channelId, "write");
  const by = await operatorOf(ctx);
  const chosen = onAir.filter((take) => (itemId === undefined || take.itemId === itemId) && (takeId === undefined || take.id === takeId));
  const broadcastIds = chosen.map((take) => take.id);
  const mark = markTakes(ctx, broadcastIds, by);
  const event: NewEvent<"rundown.cleared"> = {
    type: "rundown.cleared",
    resource: `rundown/${id}`,
    data: { rundownId: id, channelId, all, broadcastIds, by },
  };
  if (all) {
    const inner: Ctx = { ...ctx, alongside: { changes: [mark], event } };
    const cleared = await clearBroadcasts(inner, { channelId });
    return [...new Set([...broadcastIds, ...cleared.flatMap((channel) => channel.broadcastIds)])];
  }
  if (broadcastIds.length === 0) return nudgeAgain(ctx, []);
  const clear: ClearEvent = { clearId: newId(ctx.now), channelIds: [channelId], target: { broadcastIds } };
  const change = ctx.db
    .update(broadcasts)
    .set({ clearedAt: sql`coalesce(${broadcasts.clearedAt}, ${ctx.now})` })
    .where(and(ownRows(ctx, broadcasts, broadcastIds), eq(broadcasts.channelId, channelId)));
  const cleared: NewEvent<"overlay.cleared"> = { type: "overlay.cleared", resource: `page/${channelId}`, data: { ...clear } };
  const [clearedEventId = ""] = await commit(ctx, [change, mark], cleared, event);
  await orUnavailable(sendClear(ctx.env, ctx.siteId, clear), LATE);
  ctx.emitted.completedEventIds.push(clearedEventId);
  return broadcastIds;
}

/** Notes in the as-run log who has cleared what; the receipts are final soon after. */
function markTakes(ctx: Ctx, takeIds: string[], by: ScheduledBy) {
  return ctx.db
    .update(rundownTakes)
    .set({ clearedAt: ctx.now, clearedBy: by, receiptDueAt: ctx.now + RECEIPT_GRACE_MS })
    .where(and(ownRows(ctx, rundownTakes, takeIds), sql`${rundownTakes.clearedAt} is null`));
}

async function operatorOf(ctx: Ctx): Promise<ScheduledBy> {
  const actor = await ctx.caller();
  if (actor.kind !== "developer" && actor.kind !== "account") throw forbidden("Only keys and accounts of the site operate rundowns");
  return { kind: actor.kind, id: actor.id };
}
