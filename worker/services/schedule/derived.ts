import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type ScheduledActionRow, scheduledActions } from "#db/schema/schedule.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import { type Actor, type Ctx, newRow, ownRow } from "#worker/services/core/context.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";

// What other changes mean for the schedule: times of a poll or quest itself, which it carries out and lists like any other, and the
// deletion of what an action is for.

interface Derived {
  source: "poll" | "quest";
  targetId: string;
  name: string;
  channelId: string | null;
}

interface Time {
  kind: ScheduledActionRow["kind"];
  /** Milliseconds since 1970 UTC; null for none. */
  dueAt: number | null;
}

/**
 * The statements, for the batch that writes a poll or quest, that schedule those of its times that differ from the previous ones (null for
 * a new one) in place of these, each with its event. Past ones need nothing.
 */
export async function scheduleTimes(
  ctx: Ctx,
  { source, ...target }: Derived,
  times: Time[],
  previous: Time[] | null,
): Promise<BatchItem<"sqlite">[]> {
  const changed = times.filter(({ kind, dueAt }) => (previous?.find((time) => time.kind === kind)?.dueAt ?? null) !== dueAt);
  if (changed.length === 0) return [];
  const actor = await ctx.caller();
  const isReplaced = and(
    eq(scheduledActions.targetId, target.targetId),
    eq(scheduledActions.source, source),
    inArray(
      scheduledActions.kind,
      changed.map(({ kind }) => kind),
    ),
  );
  const rows = changed.flatMap(({ kind, dueAt }): ScheduledActionRow[] =>
    dueAt === null || dueAt <= ctx.now
      ? []
      : [
          {
            ...newRow(ctx),
            ...target,
            kind,
            dueAt,
            source,
            payload: {},
            state: "pending",
            scheduledBy: null,
            requestId: ctx.requestId,
            message: null,
            endedAt: null,
          },
        ],
  );
  return [
    ...(previous ? cancelWhere(ctx, actor, "The time was changed", isReplaced) : []),
    ...rows.flatMap((row) => [
      ctx.db.insert(scheduledActions).values(row),
      insertEvents(ctx, actor, "schedule.created", ownRow(ctx, scheduledActions, row.id)),
    ]),
  ];
}

/** The statements, for the batch that deletes an overlay, poll or quest, that cancel all its pending actions, each with its event. */
export async function cancelActionsOf(ctx: Ctx, targetId: string): Promise<BatchItem<"sqlite">[]> {
  return cancelWhere(ctx, await ctx.caller(), "It was deleted", eq(scheduledActions.targetId, targetId));
}

/** The same for the batch that deletes a channel, of the broadcasts on this channel alone. Metadata may match another one by then. */
export function cancelBroadcastsOn(ctx: Ctx, actor: Actor, channelId: string): BatchItem<"sqlite">[] {
  const { kind, payload } = scheduledActions;
  const isFixed = and(eq(kind, "overlay.broadcast"), sql`json_extract(${payload}, '$.pageMetadata') is null`);
  return cancelWhere(ctx, actor, "The channel was deleted", and(isFixed, eq(scheduledActions.channelId, channelId)));
}

function cancelWhere(ctx: Ctx, actor: Actor, message: string, which: SQL | undefined): BatchItem<"sqlite">[] {
  const { siteId, state, version } = scheduledActions;
  const where = and(eq(siteId, ctx.siteId), eq(state, "pending"), which);
  const ended = { state: "cancelled" as const, message, endedAt: ctx.now, modified: ctx.now };
  return [
    insertEvents(ctx, actor, "schedule.cancelled", where, ended),
    ctx.db
      .update(scheduledActions)
      .set({ ...ended, version: sql`${version} + 1` })
      .where(where),
  ];
}

function insertEvents(
  ctx: Ctx,
  actor: Actor,
  type: "schedule.created" | "schedule.cancelled",
  where: SQL | undefined,
  changes: Partial<Pick<ScheduledActionRow, "state" | "message" | "endedAt" | "modified">> = {},
): BatchItem<"sqlite"> {
  const { id, siteId, kind, targetId, name, channelId, dueAt, state, source, scheduledBy, message, endedAt, created, modified, payload } =
    scheduledActions;
  const columns = { siteId, kind, targetId, name, channelId, dueAt, state, source, scheduledBy, message, endedAt, created, modified };
  const broadcast = sql`json(iif(${kind} = 'overlay.broadcast', ${payload}, 'null'))`;
  const data = { _id: id, ...columns, ...changes, broadcast };
  return insertEventsForRows(ctx, actor, { type, area: "schedule", table: scheduledActions, where, data });
}

/** After a commit: makes sure that the site's scheduler wakes in time. The event's effect and the cron make up for a failure. */
export async function wakeScheduler({ env, siteId }: Pick<Ctx, "env" | "siteId">, dueAt: number | null): Promise<void> {
  if (dueAt === null) return;
  try {
    await schedulerOf(env, siteId).wake(dueAt);
  } catch (error) {
    logError("scheduler_not_woken", error, { siteId });
  }
}
