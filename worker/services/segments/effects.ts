import { eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { sites } from "#db/schema/sites.ts";
import { cuePollerOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { parseSegments, segmentsJson } from "./membership.ts";
import { setThresholds } from "./thresholds.ts";

export const effects: Effects = {
  "site.updated": async (env, siteId, event) => {
    // Where the last source was removed, the object finds out by itself.
    await Promise.all([resegmentViewers(env, siteId), hasCueSources(event.data) && cuePollerOf(env, siteId).sync()]);
  },
};

const WithSources = z.object({ settings: z.object({ manifest: z.object({ cues: z.array(z.unknown()).min(1) }) }) });

function hasCueSources(data: string): boolean {
  return WithSources.safeParse(JSON.parse(data)).success;
}

/** Evaluates the site's segments for every open socket again, if they have changed. Safe to repeat. */
async function resegmentViewers(env: Env, siteId: string): Promise<void> {
  const [site] = await siteDb(env, siteId)
    .select({ version: sites.version, segments: segmentsJson(siteId).as("segments") })
    .from(sites)
    .where(eq(sites.id, siteId));
  if (!site) return;
  // First, so that none is missed while sockets are evaluated.
  await setThresholds(env, siteId, parseSegments(site.segments));
  const isDone = await presenceOf(env, siteId).resegment(site.version, await sha256(site.segments ?? "{}"));
  if (!isDone) throw new Error("A relay couldn't be notified of the site's segments");
}
