import { createDb, type Db } from "../db/client.ts";
import { logError } from "./lib/log.ts";
import { pruneActivity } from "./services/activity.ts";
import { pruneSessions } from "./services/auth.ts";
import { pruneProofs } from "./services/email-proofs.ts";
import { pruneBroadcasts } from "./services/broadcasts.ts";
import { recheckSchemas } from "./services/data-providers.ts";
import { expireEntitlements } from "./services/entitlement-expiry.ts";
import { pruneExports, resumeExports } from "./services/exports.ts";
import { pruneKeys } from "./services/idempotency.ts";
import { sweepOrphans } from "./services/media.ts";
import { pruneIntents } from "./services/intents.ts";
import { pruneMails } from "./services/mail.ts";
import { sitesWaiting } from "./services/outbox.ts";
import { pruneProviderEvents } from "./services/provider-events.ts";
import { pruneResets } from "./services/passwords.ts";
import { pruneCharges, reconcileBilling } from "./services/reconcile.ts";
import { pruneRegisterInvites } from "./services/register-invites.ts";
import { prunePlaces, publishSignInFailures } from "./services/sign-in-attempts.ts";
import { undoAbandonedDrafts } from "./services/stream-drafts.ts";
import { pruneTvCodes } from "./services/tv-codes.ts";
import { pruneViews } from "./services/video-views.ts";
import { pruneWatchTime } from "./services/watch-time.ts";

// A nudge that has not come after this long won't.
const LOST_MS = 5_000;

interface Scope {
  env: Env;
  db: Db;
  now: number;
}

/** In the order in which they run. */
const STEPS: Record<string, (scope: Scope) => Promise<unknown>> = {
  sweepOrphans,
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
  expireEntitlements,
  resumeExports,
  pruneExports,
  pruneCharges,
  // Last, since they wait for systems outside.
  undoAbandonedDrafts,
  reconcileBilling,
};

/** What runs once a minute: wakes the logs whose nudge was lost, and forgets what is past its time. One that fails holds up none of the others. Safe to run twice. */
export async function runScheduled(env: Env, now: number): Promise<void> {
  const db = createDb(env.DB);
  const failures: unknown[] = [];
  const run = async (step: string, work: () => Promise<unknown>, about: { siteId?: string } = {}): Promise<void> => {
    try {
      await work();
    } catch (error) {
      logError("scheduled_step_failed", error, { step, ...about });
      failures.push(error);
    }
  };
  let waiting: string[] = [];
  await run("sitesWaiting", async () => {
    waiting = await sitesWaiting(db, now - LOST_MS);
  });
  for (const siteId of waiting) await run("nudge", () => env.SITE_LOG.getByName(siteId).nudge(), { siteId });
  for (const [step, work] of Object.entries(STEPS)) await run(step, () => work({ env, db, now }));
  if (failures.length > 0)
    throw new AggregateError(failures, `Scheduled work failed in ${failures.length} steps; the next minute tries them again`);
}
