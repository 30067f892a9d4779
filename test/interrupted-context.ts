import { env } from "cloudflare:workers";
import { createDb } from "#db/client.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

/** A verb's context that runs `meanwhile` between the verb's first read and its write, when every verb confirms its caller. */
export function interruptedContext(site: TestSite, meanwhile: () => Promise<unknown>): Ctx {
  return {
    env,
    siteId: site.id,
    db: createDb(siteStore),
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
