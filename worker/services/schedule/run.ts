import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { type ScheduledActionRow, scheduledActions } from "#db/schema/schedule.ts";
import { Failure, LostRace, wonRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, nudgeAgain, nudgeLogs, ownRow } from "#worker/services/core/context.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { runAction } from "./actions.ts";
import { currentActor } from "./actor.ts";
import { toScheduledAction } from "./schemas.ts";

/** What shows or opens something later than this would surprise the show. What closes is always done, and what has opened by itself announced. */
const MISSED_MS = 5 * 60_000;
/** After a failure that may pass, the action is tried again. */
const RETRY_MS = 1_000;
/** Actions that run side by side. */
const GROUP = 50;
const MAX_RACES = 5;

/** A run of what is due. */
export interface DueRun {
  /** How much was due. */
  found: number;
  /** When to run again (ms). */
  next: number | null;
  /** The nudges of the site's log, which nobody has to wait for. */
  finish: Promise<unknown>;
}

type Ended = "done" | "failed" | "missed";

/**
 * Runs a site's due actions, each once: an action's row is marked in the batch that does it, and fails that batch if somebody else has
 * marked it.
 */
export async function runDueActions(env: Env, siteId: string, now: number): Promise<DueRun> {
  const db = siteDb(env, siteId);
  const pending = and(eq(scheduledActions.siteId, siteId), eq(scheduledActions.state, "pending"));
  const due = await db
    .select()
    .from(scheduledActions)
    .where(and(pending, lte(scheduledActions.dueAt, now)))
    .orderBy(asc(scheduledActions.dueAt), asc(scheduledActions.id))
    .limit(GROUP);
  const nudges: Promise<void>[] = [];
  // What is due for the same target runs in order: a poll that opens and closes ends up closed.
  const byTarget = [...Map.groupBy(due, ({ targetId }) => targetId).values()];
  const settled = await Promise.all(byTarget.map((rows) => attemptInOrder({ env, db, siteId, now, nudges }, rows)));
  const [later] = await db
    .select({ dueAt: scheduledActions.dueAt })
    .from(scheduledActions)
    .where(and(pending, gt(scheduledActions.dueAt, now)))
    .orderBy(asc(scheduledActions.dueAt))
    .limit(1);
  const again = settled.includes(false) ? now + RETRY_MS : due.length === GROUP ? now : null;
  return { found: due.length, next: again ?? later?.dueAt ?? null, finish: Promise.allSettled(nudges) };
}

interface Run {
  env: Env;
  db: Db;
  siteId: string;
  now: number;
  nudges: Promise<void>[];
}

/** Runs actions one after the other; false if one has to be tried again, before those that follow it. */
async function attemptInOrder(run: Run, rows: ScheduledActionRow[]): Promise<boolean> {
  for (const row of rows) if (!(await attempt(run, row))) return false;
  return true;
}

/** Runs one action; false if it has to be tried again. */
async function attempt(run: Run, row: ScheduledActionRow): Promise<boolean> {
  const ctx = systemCtx({ env: run.env, db: run.db, now: run.now }, run.siteId, row.requestId);
  try {
    await execute(ctx, row);
    return true;
  } catch (error) {
    if (await hasEnded(ctx, row)) return nudgeAgain(ctx, true);
    logError("scheduled_action_failed", error, { siteId: run.siteId, actionId: row.id });
    if (ctx.now - row.dueAt <= MISSED_MS) return false;
    await end(ctx, row, "failed", "Failed for five minutes because of a server error");
    return true;
  } finally {
    nudgeLogs(ctx);
    run.nudges.push(ctx.finish());
  }
}

async function execute(ctx: Ctx, row: ScheduledActionRow): Promise<void> {
  const lateSeconds = Math.round((ctx.now - row.dueAt) / 1000);
  if (row.source === "request" && !row.kind.endsWith(".close") && lateSeconds * 1000 > MISSED_MS)
    return end(ctx, row, "missed", `The server was unavailable at that time, and for ${lateSeconds} s after it`);
  try {
    const nothing = await withRaces(async () => runAction(await asScheduler(ctx, row), row));
    if (nothing !== null) await end(ctx, row, "done", nothing);
  } catch (error) {
    if (!(error instanceof Failure) || error instanceof LostRace || error.code === "unavailable") throw error;
    await end(ctx, row, "failed", error.message);
  }
}

/** The context in which an action runs: as who scheduled it, and with its row among what is committed. */
async function asScheduler(ctx: Ctx, row: ScheduledActionRow): Promise<Ctx> {
  const actor = await currentActor(ctx, row.scheduledBy);
  return {
    ...ctx,
    caller: async () => actor,
    alongside: { changes: [mark(ctx, row, "done", null)], event: endEvent(ctx, row, "done", null) },
  };
}

/** Runs a verb again if another change came first, as the API does. */
async function withRaces<T>(work: () => Promise<T>): Promise<T> {
  for (let races = 1; ; races++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LostRace) || races === MAX_RACES) throw error;
    }
  }
}

/** Ends an action that did nothing. Whoever has ended it before is right. */
async function end(ctx: Ctx, row: ScheduledActionRow, state: Ended, message: string | null): Promise<void> {
  const change = ctx.db
    .update(scheduledActions)
    .set(endColumns(ctx, row, state, message))
    .where(and(ownRow(ctx, scheduledActions, row.id), eq(scheduledActions.state, "pending")));
  await wonRace(() => commitIfUnchanged(ctx, change, endEvent(ctx, row, state, message)));
}

/** Marks the row in another commit; unless it is pending, `state` becomes null, which violates NOT NULL and rolls that commit back. */
function mark(ctx: Ctx, row: ScheduledActionRow, state: Ended, message: string | null) {
  return ctx.db
    .update(scheduledActions)
    .set({ ...endColumns(ctx, row, state, message), state: sql`case when ${scheduledActions.state} = 'pending' then ${state} end` })
    .where(ownRow(ctx, scheduledActions, row.id));
}

function endColumns(ctx: Ctx, row: ScheduledActionRow, state: Ended, message: string | null) {
  return { state, message, endedAt: ctx.now, modified: ctx.now, version: row.version + 1 };
}

function endEvent(ctx: Ctx, row: ScheduledActionRow, state: Ended, message: string | null): NewEvent {
  const type = state === "done" ? "schedule.completed" : state === "failed" ? "schedule.failed" : "schedule.missed";
  return { type, resource: `schedule/${row.id}`, data: toScheduledAction({ ...row, ...endColumns(ctx, row, state, message) }) };
}

async function hasEnded(ctx: Ctx, { id }: ScheduledActionRow): Promise<boolean> {
  const [row] = await ctx.db
    .select({ state: scheduledActions.state })
    .from(scheduledActions)
    .where(ownRow(ctx, scheduledActions, id));
  return row?.state !== "pending";
}
