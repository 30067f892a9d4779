import { and, eq, lt } from "drizzle-orm";
import { scheduledActions } from "#db/schema/schedule.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { sitesWithOverdueRundowns } from "#worker/services/rundowns/due.ts";

const RETENTION_MS = 30 * 86_400_000;
/** An action that is this late was forgotten by its alarm. */
const OVERDUE_MS = 5_000;
const SITES_PER_SWEEP = 500;

/** Wakes the schedulers of sites with overdue actions or rundowns, whose alarm was lost. */
export async function wakeSchedulers({ env, db, shard, now }: Shard & Pick<Ctx, "now">): Promise<void> {
  const overdue = await db
    .selectDistinct({ siteId: scheduledActions.siteId })
    .from(scheduledActions)
    .where(and(eq(scheduledActions.state, "pending"), lt(scheduledActions.dueAt, now - OVERDUE_MS)))
    .limit(SITES_PER_SWEEP);
  const withRundowns = await sitesWithOverdueRundowns(db, now - OVERDUE_MS, SITES_PER_SWEEP);
  const sites = await leaveOutCopies({ env, db, shard }, [...overdue, ...withRundowns]);
  const siteIds = new Set(sites.map(({ siteId }) => siteId));
  await Promise.all([...siteIds].map((siteId) => schedulerOf(env, siteId).wake(now)));
}

/** Deletes actions 30 days after they ended. */
export async function pruneSchedule({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(scheduledActions).where(lt(scheduledActions.endedAt, now - RETENTION_MS));
}
