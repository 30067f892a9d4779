import { and, eq, lt, sql } from "drizzle-orm";
import { rundownTakes, type TakeRow } from "#db/schema/rundowns.ts";
import { Failure, wonRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { startStream, stopStream } from "#worker/services/streams/control.ts";
import { findStream } from "#worker/services/streams/streams.ts";
import { delegated } from "./item-rights.ts";
import { toTakeEvent } from "./schemas.ts";

// A stream's provider may take seconds, so the take is recorded first, as pending: whoever presses meanwhile gets the same take.

/** By then, the request of a take has ended or died. */
const ABANDONED_MS = 60_000;
const GROUP = 50;

/** Calls the stream's provider for a recorded take, and completes it. */
export async function controlStream(ctx: Ctx, take: TakeRow): Promise<void> {
  const emitted: Ctx["emitted"] = { siteIds: new Set(), completedEventIds: [] };
  const done: TakeRow = { ...take, state: "done" };
  // Unless the take is pending, `state` becomes null, which violates NOT NULL and rolls the stream's change back.
  const change = ctx.db
    .update(rundownTakes)
    .set({ state: sql`case when ${rundownTakes.state} = 'pending' then 'done' end` })
    .where(ownRow(ctx, rundownTakes, take.id));
  const inner: Ctx = { ...delegated(ctx), emitted, alongside: { changes: [change], event: completedEvent(done) } };
  const control = take.action === "start" ? startStream : stopStream;
  try {
    await control(inner, take.targetId ?? "");
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await complete(ctx, { ...take, state: "failed", message: error.message });
    throw error;
  } finally {
    for (const siteId of emitted.siteIds) ctx.emitted.siteIds.add(siteId);
    ctx.emitted.completedEventIds.push(...emitted.completedEventIds);
  }
  if (emitted.siteIds.size === 0) await complete(ctx, { ...done, message: "There was nothing left to do" });
}

/** Completes the takes of requests that died while they waited for a provider. */
export async function resumeStreamTakes({ env, db, shard, now }: Shard & Pick<Ctx, "now">): Promise<void> {
  const abandoned = await db
    .select()
    .from(rundownTakes)
    .where(and(eq(rundownTakes.state, "pending"), lt(rundownTakes.takenAt, now - ABANDONED_MS)))
    .limit(GROUP);
  await Promise.all(
    (await leaveOutCopies({ env, db, shard }, abandoned)).map((take) =>
      asSystem({ env, db, now }, take.siteId, (ctx) => resume(ctx, take)).catch((error: unknown) => logFailed(error, take)),
    ),
  );
}

async function resume(ctx: Ctx, take: TakeRow): Promise<void> {
  const found = await findStream(ctx, take.targetId ?? "", "write").catch(() => undefined);
  // The provider may have responded to the request before it died.
  const isReached = found !== undefined && found.stream.isLive === (take.action === "start");
  if (isReached) return complete(ctx, { ...take, state: "done" });
  await controlStream(ctx, take);
}

async function complete(ctx: Ctx, take: TakeRow): Promise<void> {
  const change = ctx.db
    .update(rundownTakes)
    .set({ state: take.state, message: take.message })
    .where(and(ownRow(ctx, rundownTakes, take.id), eq(rundownTakes.state, "pending")));
  // Whoever has completed it before is right.
  await wonRace(() => commitIfUnchanged(ctx, change, completedEvent(take)));
}

function completedEvent(take: TakeRow): NewEvent<"rundown.completed"> {
  return { type: "rundown.completed", resource: `rundown/${take.rundownId}`, data: toTakeEvent(take) };
}

function logFailed(error: unknown, { id, siteId }: TakeRow): void {
  logError("stream_take_not_resumed", error, { siteId, takeId: id });
}
