import { and, eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type ScheduledActionRow, scheduledActions } from "#db/schema/schedule.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import { type Ctx, newRow } from "#worker/services/core/context.ts";

// Times of a poll or quest itself, which the schedule carries out and lists like any other.

interface Derived {
  source: "poll" | "quest";
  targetId: string;
  name: string;
  channelId: string | null;
}

/** The statements, for the batch that writes a poll or quest, that replace its scheduled times with these (ms). Past ones need nothing. */
export function scheduleTimes(
  ctx: Ctx,
  { source, ...target }: Derived,
  times: { kind: ScheduledActionRow["kind"]; dueAt: number | null }[],
): BatchItem<"sqlite">[] {
  const rows = times.flatMap(({ kind, dueAt }): ScheduledActionRow[] =>
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
  return [cancelTimes(ctx, target.targetId, source), ...rows.map((row) => ctx.db.insert(scheduledActions).values(row))];
}

/** The statement that cancels a target's pending times: those that follow from itself or, when it is deleted, all. */
export function cancelTimes(ctx: Ctx, targetId: string, source?: Derived["source"]): BatchItem<"sqlite"> {
  const { siteId, state } = scheduledActions;
  return ctx.db
    .update(scheduledActions)
    .set({
      state: "cancelled",
      message: source === undefined ? "It was deleted" : "The time was changed",
      endedAt: ctx.now,
      modified: ctx.now,
    })
    .where(
      and(
        eq(siteId, ctx.siteId),
        eq(scheduledActions.targetId, targetId),
        eq(state, "pending"),
        source && eq(scheduledActions.source, source),
      ),
    );
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
