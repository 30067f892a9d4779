import { createDb } from "../db/client.ts";
import { pruneSessions } from "./services/auth.ts";
import { pruneBroadcasts } from "./services/broadcasts.ts";
import { pruneKeys } from "./services/idempotency.ts";
import { sweepOrphans } from "./services/media.ts";
import { pruneIntents } from "./services/intents.ts";
import { pruneMails } from "./services/mail.ts";
import { sitesWaiting } from "./services/outbox.ts";
import { pruneResets } from "./services/passwords.ts";
import { pruneRegisterInvites } from "./services/register-invites.ts";
import { pruneTvCodes } from "./services/tv-codes.ts";

// A nudge that has not come after this long won't.
const LOST_MS = 5_000;

/** What runs once a minute: wakes the logs whose nudge was lost, and forgets what is past its time. Safe to run twice. */
export async function runScheduled(env: Env, now: number): Promise<void> {
  const db = createDb(env.DB);
  for (const siteId of await sitesWaiting(db, now - LOST_MS)) await env.SITE_LOG.getByName(siteId).nudge();
  await sweepOrphans({ env, db, now });
  await pruneKeys({ db, now });
  await pruneSessions({ db, now });
  await pruneResets({ db, now });
  await pruneIntents({ db, now });
  await pruneTvCodes({ db, now });
  await pruneRegisterInvites({ db, now });
  await pruneBroadcasts({ db, now });
  await pruneMails({ db, now });
}
