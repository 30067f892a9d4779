import { createDb } from "../db/client.ts";
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

/** What runs once a minute: wakes the logs whose nudge was lost, and forgets what is past its time. One that fails holds up none of the others. Safe to run twice. */
export async function runScheduled(env: Env, now: number): Promise<void> {
  const db = createDb(env.DB);
  const waiting = await sitesWaiting(db, now - LOST_MS);
  const steps: (() => Promise<unknown>)[] = [
    ...waiting.map((siteId) => () => env.SITE_LOG.getByName(siteId).nudge()),
    () => sweepOrphans({ env, db, now }),
    () => pruneKeys({ db, now }),
    () => pruneSessions({ db, now }),
    () => publishSignInFailures({ env, db, now }),
    () => prunePlaces({ db, now }),
    () => pruneResets({ db, now }),
    () => pruneProofs({ db, now }),
    () => pruneIntents({ db, now }),
    () => pruneTvCodes({ db, now }),
    () => pruneRegisterInvites({ db, now }),
    () => pruneBroadcasts({ db, now }),
    () => recheckSchemas({ env, db, now }),
    () => pruneProviderEvents({ db, now }),
    () => pruneMails({ db, now }),
    () => pruneViews({ db, now }),
    () => pruneWatchTime({ db, now }),
    () => pruneActivity({ db, now }),
    () => expireEntitlements({ env, db, now }),
    () => resumeExports({ env, db, now }),
    () => pruneExports({ env, db, now }),
    () => pruneCharges({ db, now }),
    // Last, since it waits for systems outside.
    () => undoAbandonedDrafts({ env, db, now }),
    () => reconcileBilling({ env, db, now }),
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, "Some of the scheduled work failed; the next minute tries it again");
}
