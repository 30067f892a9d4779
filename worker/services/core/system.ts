import { newId } from "#worker/lib/ids.ts";
import { type Ctx, nudgeLogs } from "./context.ts";

type Worker = Pick<Ctx, "env" | "db" | "now">;

/** Tifo itself at work for a site: what cron, queues and objects call verbs with. Who commits wakes the log with `nudgeLogs`. */
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

/** Does work of Tifo's own for a site, outside of any request, and wakes the site's log if it committed something. */
export async function asSystem<T>({ env, db, now }: Worker, siteId: string, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  const ctx = systemCtx({ env, db, now }, siteId, `system-${newId(now)}`);
  try {
    return await work(ctx);
  } finally {
    nudgeLogs(ctx);
    // A nudge that fails is made up for by the cron.
    await ctx.finish().catch(() => undefined);
  }
}
