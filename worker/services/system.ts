import type { Ctx } from "./context.ts";

/** Tifo itself at work for a site: what cron, queues and objects call verbs with. Who commits wakes the log with `nudgeLogs`. */
export function systemCtx(worker: Pick<Ctx, "env" | "db" | "now">, siteId: string, requestId: string): Ctx & { finish(): Promise<void> } {
  const deferred: Promise<unknown>[] = [];
  return {
    ...worker,
    siteId,
    requestId,
    caller: async () => ({ kind: "system" }),
    ifMatch: undefined,
    deviceId: undefined,
    told: { siteIds: new Set(), settled: [] },
    defer: (work) => void deferred.push(work),
    finish: async () => {
      await Promise.all(deferred);
    },
  };
}
