import { env } from "cloudflare:workers";
import { createDb } from "#db/client.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { TestSite } from "./harness.ts";

/** What a verb gets, with something else coming to pass between its first read and its change: there every verb asks who calls. */
export function interruptedContext(site: TestSite, meanwhile: () => Promise<unknown>): Ctx {
  return {
    env,
    siteId: site.id,
    db: createDb(env.DB),
    now: Date.now(),
    requestId: "test.interrupted",
    caller: async () => {
      await meanwhile();
      return { kind: "system" };
    },
    ifMatch: undefined,
    deviceId: undefined,
    emitted: { siteIds: new Set(), completedEventIds: [] },
    defer: () => undefined,
  };
}
