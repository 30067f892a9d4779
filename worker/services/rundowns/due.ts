import { and, eq, gt, lte, or, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { type RundownRow, rundowns } from "#db/schema/rundowns.ts";
import type { RundownItem } from "#db/types.ts";
import { Failure, forbidden, LostRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { keyAllows } from "#worker/lib/roles.ts";
import { type Ctx, nudgeAgain, nudgeLogs, ownRow, requirePage } from "#worker/services/core/context.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { newId } from "#worker/lib/ids.ts";
import { currentActor } from "#worker/services/schedule/actor.ts";
import type { DueRun } from "#worker/services/schedule/run.ts";
import { selectRundown } from "./rundowns.ts";
import { dueItems, endsSomething, itemAfter, nextTime, timeKey } from "./steps.ts";
import { recordFailure, take, type TakeRequest } from "./take.ts";
import { findTake } from "./takes.ts";

/** As of scheduled actions: what shows or opens something later than this would surprise the show. */
const MISSED_MS = 5 * 60_000;
const RETRY_MS = 1_000;
const GROUP = 50;
/** Takes of operators that may come first while an item is due. */
const MAX_RACES = 20;

/** What is due in a rundown, and when it was. */
interface Due {
  item: RundownItem;
  at: number;
  trigger: "time" | "wait";
  cause: string;
}

/**
 * Takes the items of a site's rundowns whose time has come or whose wait has ended, each once: its cause is unique in the batch that takes
 * it. Safe to run at any time.
 */
export async function runDueRundowns(env: Env, siteId: string, now: number): Promise<DueRun> {
  const db = siteDb(env, siteId);
  const active = and(eq(rundowns.siteId, siteId), eq(rundowns.held, false));
  const due = await db
    .select()
    .from(rundowns)
    .where(and(active, or(lte(rundowns.timedAt, now), lte(rundowns.followAt, now))))
    .limit(GROUP);
  const nudges: Promise<void>[] = [];
  const settled = await Promise.all(due.map((rundown) => attempt({ env, db, now }, rundown, nudges)));
  const [timed, following] = await db.batch([
    db
      .select({ at: sql<number | null>`min(${rundowns.timedAt})`.as("at") })
      .from(rundowns)
      .where(and(active, gt(rundowns.timedAt, now))),
    db
      .select({ at: sql<number | null>`min(${rundowns.followAt})`.as("at") })
      .from(rundowns)
      .where(and(active, gt(rundowns.followAt, now))),
  ]);
  const times = [...timed, ...following].flatMap(({ at }) => (at === null ? [] : [at]));
  if (settled.includes(false)) times.push(now + RETRY_MS);
  if (due.length === GROUP) times.push(now);
  return { found: due.length, next: times.length === 0 ? null : Math.min(...times), finish: Promise.allSettled(nudges) };
}

/** Takes what is due in one rundown; false if it has to be tried again. */
async function attempt(worker: { env: Env; db: Db; now: number }, rundown: RundownRow, nudges: Promise<void>[]): Promise<boolean> {
  const ctx = systemCtx(worker, rundown.siteId, `system-${newId(worker.now)}`);
  try {
    for (const due of dueOf(rundown, ctx.now)) await takeDue(ctx, rundown.id, due);
    await setNextTime(ctx, rundown);
    return true;
  } catch (error) {
    logError("rundown_not_run", error, { siteId: rundown.siteId, rundownId: rundown.id });
    return false;
  } finally {
    nudgeLogs(ctx);
    nudges.push(ctx.finish());
  }
}

function dueOf({ items, timedAt, followAt, followFrom, lastItemId }: RundownRow, now: number): Due[] {
  const timed = timedAt === null ? [] : dueItems(items, timedAt, now);
  const due: Due[] = timed.map((item) => ({ item, at: item.at ?? now, trigger: "time", cause: timeKey(item) }));
  const following = itemAfter(items, lastItemId);
  if (followAt !== null && followAt <= now && following)
    due.push({ item: following, at: followAt, trigger: "wait", cause: `after:${followFrom}` });
  return due.sort((one, other) => one.at - other.at);
}

/** Takes one item in the current generation, however many takes of operators come first. */
async function takeDue(ctx: Ctx, rundownId: string, due: Due): Promise<void> {
  for (let races = 1; ; races++) {
    const [rundown] = await selectRundown(ctx, rundownId);
    if (!rundown || !isStillDue(rundown, due)) return;
    if (await findTake(ctx, rundownId, -1, due.cause)) return nudgeAgain(ctx, undefined);
    if (await hasTaken(ctx, { ...due, rundown })) return;
    if (races === MAX_RACES) throw new LostRace();
  }
}

/** An operator may have held the rundown, taken something that ends the wait, or changed the items. */
function isStillDue({ held, items, followFrom }: RundownRow, { item, trigger, cause }: Due): boolean {
  if (held) return false;
  if (trigger === "wait") return cause === `after:${followFrom}` && items.some(({ _id }) => _id === item._id);
  return items.some((known) => timeKey(known) === cause);
}

/** Whether the item is taken, or recorded as failed or missed; false if another take came first. */
async function hasTaken(ctx: Ctx, { at, ...request }: TakeRequest & { at: number }): Promise<boolean> {
  const lateSeconds = Math.round((ctx.now - at) / 1000);
  const isLate = lateSeconds * 1000 > MISSED_MS;
  try {
    if (isLate && !endsSomething(request.item)) {
      await recordFailure(ctx, request, "missed", `The server was unavailable at that time, and for ${lateSeconds} s after it`);
      return false;
    }
    return (await take(await asEditor(ctx, request.rundown), request)).cause === request.cause;
  } catch (error) {
    if (error instanceof LostRace) return false;
    const isFinal = error instanceof Failure && error.code !== "unavailable";
    if (!isFinal && !isLate) throw error;
    await recordFailure(ctx, request, "failed", isFinal ? error.message : "Failed for five minutes because of a server error");
    return false;
  }
}

/** The context of an automatic take: as who saved the items, if they may still run the channel's rundowns. */
async function asEditor(ctx: Ctx, { channelId, editedBy }: RundownRow): Promise<Ctx> {
  const actor = await currentActor(ctx, editedBy);
  if (actor.kind === "developer" && !keyAllows(actor.roles, "rundown", "write"))
    throw forbidden("The developer key that saved the rundown lacks the role rundown:write");
  const editor: Ctx = { ...ctx, caller: async () => actor };
  await requirePage(editor, channelId, "write");
  return editor;
}

/** Moves on to the next time, unless the rundown was edited or held meanwhile, which sets its own. */
async function setNextTime(ctx: Ctx, { id, version, items, timedAt, followAt, followFrom }: RundownRow): Promise<void> {
  const isUnchanged = and(ownRow(ctx, rundowns, id), eq(rundowns.version, version), eq(rundowns.held, false));
  if (timedAt !== null && timedAt <= ctx.now)
    await ctx.db
      .update(rundowns)
      .set({ timedAt: nextTime(items, ctx.now) })
      .where(and(isUnchanged, eq(rundowns.timedAt, timedAt)));
  // A wait that nothing follows.
  if (followAt !== null && followAt <= ctx.now && followFrom !== null)
    await ctx.db
      .update(rundowns)
      .set({ followAt: null, followFrom: null })
      .where(and(ownRow(ctx, rundowns, id), eq(rundowns.followFrom, followFrom)));
}

/** When a rundown next takes an item without an operator (ms). */
export async function earliestDue(db: Db, siteId: string, id: string): Promise<number | null> {
  const [rundown] = await db
    .select({ timedAt: rundowns.timedAt, followAt: rundowns.followAt })
    .from(rundowns)
    .where(and(eq(rundowns.siteId, siteId), eq(rundowns.id, id), eq(rundowns.held, false)));
  const times = [rundown?.timedAt ?? null, rundown?.followAt ?? null].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** The sites with rundowns whose alarm was lost. */
export async function sitesWithOverdueRundowns(db: Db, before: number, limit: number): Promise<{ siteId: string }[]> {
  const overdue = or(lte(rundowns.timedAt, before), lte(rundowns.followAt, before));
  return db
    .selectDistinct({ siteId: rundowns.siteId })
    .from(rundowns)
    .where(and(overdue, eq(rundowns.held, false)))
    .limit(limit);
}
