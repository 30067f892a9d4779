import { and, count, eq, or, type SQL, sql } from "drizzle-orm";
import { type ScheduledActionRow, scheduledActions } from "#db/schema/schedule.ts";
import type { ScheduledBy } from "#db/types.ts";
import { conflict, forbidden, invalid, notFound } from "#worker/lib/errors.ts";
import { isSiteAdmin, managedChannels, managesPage } from "#worker/lib/roles.ts";
import { commitIfUnchanged, type Ctx, newRow, nextVersion, ownRow, updateRow } from "#worker/services/core/context.ts";
import { idIn, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { commitReferencing } from "#worker/services/core/references.ts";
import { checkAction, requireRight } from "./actions.ts";
import { wakeScheduler } from "./derived.ts";
import { dueAtOf, type ScheduleInput, type ScheduleQuery, toScheduledAction } from "./schemas.ts";

/** More than a match day has, and few enough for one alarm. */
const MAX_PENDING = 1_000;
const YEAR_MS = 366 * 86_400_000;

const scheduleList = tableList<ScheduledActionRow>({
  table: scheduledActions,
  rows: (db, slice) => sliceOf(db.select().from(scheduledActions).$dynamic(), slice),
  sort: { dueAt: scheduledActions.dueAt },
  defaultDirection: 1,
  search: { name: scheduledActions.name },
});

/** Schedules an action for the calling key or account, whose rights are checked now and again when it is due. */
export async function scheduleAction(ctx: Ctx, input: ScheduleInput): Promise<ScheduledActionRow> {
  const dueAt = dueAtOf(input, ctx.now);
  if (input.at !== undefined && (dueAt <= ctx.now || dueAt > ctx.now + YEAR_MS))
    throw invalid("at", "Must be in the future, within a year");
  const scheduledBy = await callerOf(ctx);
  const row = newRow(ctx);
  const { kind, targetId, broadcast } = input;
  const { references, ...target } = await checkAction(ctx, { id: row.id, kind, targetId, broadcast });
  await requireRoom(ctx);
  const action: ScheduledActionRow = {
    ...row,
    ...target,
    kind,
    targetId,
    dueAt,
    scheduledBy,
    state: "pending",
    source: "request",
    requestId: ctx.requestId,
    message: null,
    endedAt: null,
  };
  await commitReferencing(ctx, references, ctx.db.insert(scheduledActions).values(action), {
    type: "schedule.created",
    resource: `schedule/${action.id}`,
    data: toScheduledAction(action),
  });
  await wakeScheduler(ctx, dueAt);
  return action;
}

/** Lists what is and was scheduled; creators get what is on their channels and what they scheduled. */
export async function listScheduled(ctx: Ctx, query: ScheduleQuery): Promise<ListPage<ScheduledActionRow>> {
  const { siteId, state, kind, targetId, channelId } = scheduledActions;
  return listRows(
    ctx,
    scheduleList,
    query,
    eq(siteId, ctx.siteId),
    query.state && eq(state, query.state),
    query.kind && eq(kind, query.kind),
    query.targetId === undefined ? undefined : eq(targetId, query.targetId),
    query.channelId === undefined ? undefined : eq(channelId, query.channelId),
    await visibleActions(ctx),
  );
}

export async function getScheduled(ctx: Ctx, id: string): Promise<ScheduledActionRow> {
  const [action] = await ctx.db
    .select()
    .from(scheduledActions)
    .where(and(ownRow(ctx, scheduledActions, id), await visibleActions(ctx)));
  if (!action) throw notFound("Scheduled action not found");
  return action;
}

/** Cancels a pending action. Of a cancellation and the due time, whichever is committed first wins. */
export async function cancelScheduled(ctx: Ctx, id: string): Promise<ScheduledActionRow> {
  const current = await getScheduled(ctx, id);
  if (current.state === "cancelled") return current;
  if (current.state !== "pending") throw conflict(`The action is ${current.state} and can't be cancelled`);
  if (current.source !== "request") throw conflict(`It follows from the ${current.source}: change the time there`);
  await requireRight(ctx, current.kind);
  await requireOwn(ctx, current);
  const next: ScheduledActionRow = { ...current, ...nextVersion(ctx, current), state: "cancelled", endedAt: ctx.now };
  await commitIfUnchanged(ctx, updateRow(ctx, scheduledActions, current, next, eq(scheduledActions.state, "pending")), {
    type: "schedule.cancelled",
    resource: `schedule/${id}`,
    data: toScheduledAction(next),
  });
  return next;
}

/** Creators cancel what they scheduled themselves, and what is on channels that they may change. */
async function requireOwn(ctx: Ctx, { channelId, scheduledBy }: ScheduledActionRow): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "write") || scheduledBy?.id === actor.id) return;
  if (channelId === null || !managesPage(actor.roles, channelId, "write")) throw forbidden("No permission for this channel");
}

async function callerOf(ctx: Ctx): Promise<ScheduledBy> {
  const actor = await ctx.caller();
  if (actor.kind !== "developer" && actor.kind !== "account") throw forbidden("Only keys and accounts of the site can schedule");
  return { kind: actor.kind, id: actor.id };
}

async function requireRoom(ctx: Ctx): Promise<void> {
  const [pending] = await ctx.db
    .select({ count: count() })
    .from(scheduledActions)
    .where(and(eq(scheduledActions.siteId, ctx.siteId), eq(scheduledActions.state, "pending")));
  if ((pending?.count ?? 0) >= MAX_PENDING) throw conflict(`The site already has the maximum of ${MAX_PENDING} pending actions`);
}

async function visibleActions(ctx: Ctx): Promise<SQL | undefined> {
  const actor = await ctx.caller();
  const channelIds = actor.kind === "account" ? managedChannels(actor.roles) : "all";
  if (actor.kind !== "account" || channelIds === "all") return undefined;
  return or(idIn(scheduledActions.channelId, channelIds), sql`${scheduledActions.scheduledBy} ->> 'id' = ${actor.id}`);
}
