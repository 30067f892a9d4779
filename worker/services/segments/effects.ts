import { eq } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { sites } from "#db/schema/sites.ts";
import { presenceOf } from "#worker/durable-objects/stubs.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { segmentsJson } from "./membership.ts";

export const effects: Effects = { "site.updated": (env, siteId) => resegmentViewers(env, siteId) };

/** Evaluates the site's segments for every open socket again, if they have changed. Safe to repeat. */
async function resegmentViewers(env: Env, siteId: string): Promise<void> {
  const [site] = await createDb(env.DB)
    .select({ version: sites.version, segments: segmentsJson(siteId).as("segments") })
    .from(sites)
    .where(eq(sites.id, siteId));
  if (!site) return;
  const isDone = await presenceOf(env, siteId).resegment(site.version, await sha256(site.segments ?? "{}"));
  if (!isDone) throw new Error("A relay couldn't be notified of the site's segments");
}
