import { foldReach, pruneInsightCursors, pruneInsights } from "./services/insights/impressions.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { directoryDb, shardDb, shardsOf } from "#db/databases.ts";
import type { CronFailure } from "#db/types.ts";
import { describeError, logError } from "./lib/log.ts";
import { pruneActivity } from "./services/realtime/activity.ts";
import { prunePollResponses } from "./services/polls/retention.ts";
import { pruneSessions } from "./services/auth/auth.ts";
import { pruneProofs } from "./services/accounts/email-proofs.ts";
import { pruneBroadcasts } from "./services/overlays/broadcasts.ts";
import { recheckSchemas } from "./services/data-providers/data-providers.ts";
import { expireEntitlements } from "./services/subscriptions/entitlement-expiry.ts";
import { pruneExports, resumeExports } from "./services/community/exports.ts";
import { pruneKeys } from "./services/core/idempotency.ts";
import { pruneBackupRuns, startBackups } from "./services/backups/nightly.ts";
import { watchAlerts } from "./services/operations/alerts.ts";
import { pruneRequestCounts } from "./services/operations/request-counts.ts";
import { pruneDeadLetters, recordCronRun } from "./services/operations/upkeep.ts";
import { pruneArchives, resumeArchives } from "./services/site-archives/jobs.ts";
import { sweepAbandonedGraphics } from "./services/graphics/graphics.ts";
import { sweepOrphans } from "./services/media/media.ts";
import { pruneIntents } from "./services/auth/intents.ts";
import { pruneMails } from "./services/custom-email/mail.ts";
import type { Shard } from "./services/core/databases.ts";
import { sitesWithPendingEvents } from "./services/core/outbox.ts";
import { pruneProviderEvents } from "./services/data-providers/provider-events.ts";
import { pruneResets } from "./services/accounts/passwords.ts";
import { pruneCharges, reconcileBilling } from "./services/billing/reconcile.ts";
import { pruneRegisterInvites } from "./services/invites/register-invites.ts";
import { prunePlaces, publishSignInFailures } from "./services/auth/sign-in-attempts.ts";
import { releaseSites } from "./services/sites/placement.ts";
import { eraseSandboxes } from "./services/sandboxes/expiry.ts";
import { pruneOperators } from "./services/rundowns/operators.ts";
import { settleReceipts } from "./services/rundowns/receipts.ts";
import { resumeStreamTakes } from "./services/rundowns/stream-takes.ts";
import { pruneSchedule, wakeSchedulers } from "./services/schedule/upkeep.ts";
import { pruneStatHistory } from "./services/stats/record.ts";
import { resumeMoves } from "./services/site-moves/steps.ts";
import { shareThemes } from "./services/themes/themes.ts";
import { undoAbandonedDrafts } from "./services/streams/drafts.ts";
import { pruneTvCodes } from "./services/access-codes/tv-codes.ts";
import { pruneViews } from "./services/videos/views.ts";
import { pruneWatchTime } from "./services/pages/watch-time.ts";

// A nudge that hasn't arrived after this long is lost.
const LOST_AFTER_MS = 5_000;

interface Scope extends Shard {
  now: number;
}

/** Work about the rows of one database, which runs for each of them. In execution order. */
const STEPS: Record<string, (scope: Scope) => Promise<unknown>> = {
  // First, because what is due now matters now.
  wakeSchedulers,
  settleReceipts,
  sweepAbandonedGraphics,
  pruneKeys,
  pruneSessions,
  publishSignInFailures,
  prunePlaces,
  pruneResets,
  pruneProofs,
  pruneIntents,
  pruneTvCodes,
  pruneRegisterInvites,
  pruneBroadcasts,
  recheckSchemas,
  pruneProviderEvents,
  pruneMails,
  pruneViews,
  pruneWatchTime,
  pruneActivity,
  prunePollResponses,
  pruneInsights,
  pruneInsightCursors,
  foldReach,
  expireEntitlements,
  resumeExports,
  pruneExports,
  startBackups,
  resumeArchives,
  pruneArchives,
  pruneBackupRuns,
  pruneCharges,
  pruneSchedule,
  pruneOperators,
  pruneStatHistory,
  pruneDeadLetters,
  pruneRequestCounts,
  eraseSandboxes,
  // Last, because they wait for external systems.
  undoAbandonedDrafts,
  resumeStreamTakes,
  reconcileBilling,
};

/** Work about all databases at once, with the directory's. */
const STEPS_OF_ALL: typeof STEPS = { resumeMoves, sweepOrphans, releaseSites, shareThemes, watchAlerts };

/** Runs once a minute: nudges logs whose nudge was lost, and prunes expired data. A failing step doesn't stop the others. Safe to run twice. */
export async function runScheduled(env: Env, now: number): Promise<void> {
  const shards = [...shardsOf(env).keys()].map((shard) => ({ env, db: shardDb(env, shard), shard, now }));
  const directory = directoryDb(env);
  const started = Date.now();
  const failures: unknown[] = [];
  const causes: CronFailure[] = [];
  const run = async (step: string, work: () => Promise<unknown>, about: { siteId?: string } = {}): Promise<void> => {
    try {
      await work();
    } catch (error) {
      logError("scheduled_step_failed", error, { step, ...about });
      failures.push(error);
      causes.push({ step, ...about, cause: describeError(error) });
    }
  };
  let waiting: string[] = [];
  for (const { db } of shards)
    await run("sitesWithPendingEvents", async () => {
      waiting = [...waiting, ...(await sitesWithPendingEvents(db, now - LOST_AFTER_MS))];
    });
  for (const siteId of waiting) await run("nudge", () => siteLogOf(env, siteId).nudge(), { siteId });
  for (const [step, work] of Object.entries(STEPS)) for (const scope of shards) await run(step, () => work(scope));
  for (const [step, work] of Object.entries(STEPS_OF_ALL)) await run(step, () => work({ env, db: directory, shard: 1, now }));
  await run("recordCronRun", () => recordCronRun(directory, { due: now, started, completed: Date.now(), failures: causes }));
  if (failures.length > 0)
    throw new AggregateError(failures, `Scheduled work failed in ${failures.length} steps and is retried in a minute`);
}
