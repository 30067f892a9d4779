import { sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { broadcasts } from "#db/schema/overlays.ts";
import { type RundownRow, rundowns, rundownTakes, type TakeRow } from "#db/schema/rundowns.ts";
import type { RundownItem } from "#db/types.ts";
import { conflict, hasMessage, invalid, LostRace, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { commit, type Ctx, type NewEvent, nudgeAgain, ownRow, requirePage } from "#worker/services/core/context.ts";
import { wakeScheduler } from "#worker/services/schedule/derived.ts";
import { runItem } from "./item-actions.ts";
import { delegated } from "./item-rights.ts";
import { selectRundown } from "./rundowns.ts";
import { type NamedTake, type TakeInput, toTakeEvent } from "./schemas.ts";
import { nextItem, targetOf } from "./steps.ts";
import { controlStream } from "./stream-takes.ts";
import { findTake, selectTake } from "./takes.ts";

/** A broadcast's receipt is final this long after its end: acknowledgements are stored within seconds. */
export const RECEIPT_GRACE_MS = 60_000;

/** One item, and why it is taken. */
export interface TakeRequest {
  rundown: RundownRow;
  item: RundownItem;
  trigger: TakeRow["trigger"];
  /** What takes it automatically, once; null for an operator. */
  cause: string | null;
  variables?: TakeInput["variables"];
}

/**
 * Takes an item. A generation has one take: of two operators who press at once, the second gets what the first has taken. The change of
 * the poll, quest or overlay, the take and their events are one batch.
 */
export async function takeItem(ctx: Ctx, id: string, { itemId, generation, variables }: TakeInput): Promise<NamedTake> {
  const [[rundown], [earlier]] = await ctx.db.batch([selectRundown(ctx, id), selectTake(ctx, id, generation ?? -1)]);
  if (!rundown) throw notFound("Rundown not found");
  await requirePage(ctx, rundown.channelId, "write");
  if (earlier) return nudgeAgain(ctx, earlier);
  if (generation !== undefined && generation !== rundown.generation)
    throw conflict(`The rundown is at generation ${rundown.generation}; load it again`);
  const item = itemId === undefined ? nextItem(rundown) : rundown.items.find(({ _id }) => _id === itemId);
  if (!item)
    throw itemId === undefined ? conflict("Nothing follows in the rundown") : invalid("itemId", "The rundown has no item with this id");
  if (variables && item.kind !== "broadcast") throw invalid("variables", "Only for broadcasts");
  return take(ctx, { rundown, item, trigger: "operator", cause: null, variables });
}

/** Takes an item in the generation that was read, or returns what has been taken in it or for this cause. */
export async function take(ctx: Ctx, request: TakeRequest): Promise<NamedTake> {
  const { rundown, item, cause } = request;
  const row = await newTake(ctx, request, item.kind === "stream" ? "pending" : "done");
  await orFirst(ctx, row, () => {
    if (item.kind === "stream") return record(ctx, request, row);
    return runAndRecord(ctx, request, row);
  });
  const recorded = await findTake(ctx, rundown.id, row.generation, cause);
  if (!recorded) throw new LostRace();
  if (recorded.id !== row.id) return nudgeAgain(ctx, recorded);
  if (item.kind === "wait") await wakeScheduler(ctx, ctx.now + item.seconds * 1000);
  if (item.kind !== "stream") return recorded;
  await controlStream(ctx, recorded);
  return (await findTake(ctx, rundown.id, row.generation)) ?? recorded;
}

/** Records an automatic take that has failed or was missed. */
export async function recordFailure(ctx: Ctx, request: TakeRequest, state: "failed" | "missed", message: string): Promise<void> {
  const row = { ...(await newTake(ctx, request, state)), message };
  await orFirst(ctx, row, () => record(ctx, request, row));
}

/** If another take came first, its generation or cause is used up and nothing of this one was written. */
async function orFirst(ctx: Ctx, row: TakeRow, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const first = await findTake(ctx, row.rundownId, row.generation, row.cause);
    if (first && first.id !== row.id) return;
    if (hasMessage(error, "constraint failed: rundown_takes.")) throw new LostRace();
    throw error;
  }
}

/** Does what the item says; its own commit also records the take. If there is nothing left to do, only the take is recorded. */
async function runAndRecord(ctx: Ctx, request: TakeRequest, row: TakeRow): Promise<void> {
  const emitted: Ctx["emitted"] = { siteIds: new Set(), completedEventIds: [] };
  const alongside = { changes: takeStatements(ctx, request, row), event: takenEvent(row) };
  try {
    const message = await runItem({ ...delegated(ctx), emitted, alongside }, request, row.id);
    if (emitted.siteIds.size === 0) await record(ctx, request, { ...row, message });
  } finally {
    for (const siteId of emitted.siteIds) ctx.emitted.siteIds.add(siteId);
    ctx.emitted.completedEventIds.push(...emitted.completedEventIds);
  }
}

async function record(ctx: Ctx, request: TakeRequest, row: TakeRow): Promise<void> {
  await commit(ctx, takeStatements(ctx, request, row), takenEvent(row));
}

async function newTake(ctx: Ctx, { rundown, item, trigger, cause }: TakeRequest, state: TakeRow["state"]): Promise<TakeRow> {
  const actor = await ctx.caller();
  const isOperator = trigger === "operator" && (actor.kind === "developer" || actor.kind === "account");
  return {
    id: newId(ctx.now),
    siteId: ctx.siteId,
    rundownId: rundown.id,
    channelId: rundown.channelId,
    generation: rundown.generation,
    itemId: item._id,
    kind: item.kind,
    action: "action" in item ? item.action : null,
    name: item.name,
    targetId: targetOf(item),
    trigger,
    cause,
    takenBy: isOperator ? { kind: actor.kind, id: actor.id } : null,
    takenAt: ctx.now,
    state,
    message: null,
    endsAt: null,
    clearedAt: null,
    clearedBy: null,
    receipt: null,
    receiptDueAt: null,
  };
}

/**
 * The statements that use up a generation. If it is used up already, if the rundown is gone, or if it is held and this take is automatic,
 * `generation` becomes null, which violates NOT NULL and rolls the batch back.
 */
function takeStatements(ctx: Ctx, { rundown, item }: TakeRequest, row: TakeRow): BatchItem<"sqlite">[] {
  const mayTake = row.trigger === "operator" ? sql`true` : sql`not ${rundowns.held}`;
  const own = sql`${rundowns.id} = ${rundown.id} and ${rundowns.siteId} = ${ctx.siteId}`;
  const current = sql`${rundowns.generation} = ${row.generation} and ${mayTake}`;
  const ends = sql`select ${broadcasts.endsAt} from ${broadcasts} where ${broadcasts.id} = ${row.id} and ${broadcasts.channelId} = ${row.channelId}`;
  const insert = ctx.db.insert(rundownTakes).values({
    ...row,
    generation: sql`(select ${rundowns.generation} from ${rundowns} where ${own} and ${current})`,
    endsAt: sql`(${ends})`,
    receiptDueAt: sql`(${ends}) + ${RECEIPT_GRACE_MS}`,
  });
  const moves = row.state === "done" || row.state === "pending";
  const waits = item.kind === "wait" && moves;
  const advance = ctx.db
    .update(rundowns)
    .set({
      generation: sql`${rundowns.generation} + 1`,
      modified: ctx.now,
      ...(moves || row.trigger === "wait"
        ? { followAt: waits ? ctx.now + item.seconds * 1000 : null, followFrom: waits ? row.id : null }
        : {}),
      ...(moves
        ? { lastItemId: item._id, armedItemId: sql`case when ${rundowns.armedItemId} <> ${item._id} then ${rundowns.armedItemId} end` }
        : {}),
    })
    .where(ownRow(ctx, rundowns, rundown.id));
  return [insert, advance];
}

function takenEvent(row: TakeRow): NewEvent<"rundown.taken"> {
  return { type: "rundown.taken", resource: `rundown/${row.rundownId}`, data: toTakeEvent(row) };
}
