import { newId } from "#worker/lib/ids.ts";
import { type Ctx, nudgeLogs } from "./context.ts";

type Worker = Pick<Ctx, "env" | "db" | "now">;

/** The context with which cron, queues and objects call services for a site. After a commit, call `nudgeLogs`. */
export function systemCtx(worker: Worker, siteId: string, requestId: string): Ctx & { finish(): Promise<void> } {
  const deferred: Promise<unknown>[] = [];
  return {
    ...worker,
    siteId,
    requestId,
    caller: async () => ({ kind: "system" }),
    ifMatch: undefined,
    deviceId: undefined,
    emitted: { siteIds: new Set(), completedEventIds: [] },
    defer: (work) => void deferred.push(work),
    finish: async () => {
      await Promise.all(deferred);
    },
  };
}

/** Runs work for a site as `system`, outside of any request, and wakes the site log if it committed something. */
export async function asSystem<T>({ env, db, now }: Worker, siteId: string, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  const ctx = systemCtx({ env, db, now }, siteId, `system-${newId(now)}`);
  try {
    return await work(ctx);
  } finally {
    nudgeLogs(ctx);
    // The cron makes up for a failed nudge.
    await ctx.finish().catch(() => undefined);
  }
}

/** Like `asSystem`, for the effect of an event: the log is busy with it, so the nudge isn't awaited. The cron makes up for a failed one. */
export async function asSystemInEffect<T>({ env, db, now }: Worker, siteId: string, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  const ctx = systemCtx({ env, db, now }, siteId, `system-${newId(now)}`);
  try {
    return await work(ctx);
  } finally {
    nudgeLogs(ctx);
    void ctx.finish().catch(() => undefined);
  }
}
