import { eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { effectFailures } from "#db/schema/operations.ts";
import type { FailureSummary } from "#worker/durable-objects/site-log/site-log.protocol.ts";

/** Keeps a copy of what a site's log says about its failed effects, for the operator; none if it has none. */
export async function reportEffectFailures(env: Env, siteId: string, summary: FailureSummary | null, now: number): Promise<void> {
  const db = siteDb(env, siteId);
  if (!summary) await db.delete(effectFailures).where(eq(effectFailures.siteId, siteId));
  else {
    const values = { ...summary, modified: now };
    await db
      .insert(effectFailures)
      .values({ siteId, ...values })
      .onConflictDoUpdate({ target: effectFailures.siteId, set: values });
  }
}
