import { siteDb } from "#db/databases.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { nudgeLogs } from "#worker/services/core/context.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { dataOf, type Effects, idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { eraseFromRooms } from "#worker/services/chat/rooms.ts";
import { anonymizeVoter } from "#worker/services/polls/counting.ts";
import { eraseFromLeaderboards, showAccountChange } from "#worker/services/leaderboards/members.ts";
import { eraseFromChannels } from "#worker/services/qna/erasure.ts";
import { retagViewers } from "#worker/services/realtime/tags.ts";
import { cancelHeld } from "#worker/services/subscriptions/entitlements.ts";
import { mailProof } from "./email-proofs.ts";
import { mailNewPassword, mailReset } from "./passwords.ts";

export const effects: Effects = {
  "account.deleted": eraseAccount,
  "account.credentialsVoided": mailNewPassword,
  "account.emailVerificationRequested": mailProof,
  "account.globalAccountRequested": mailProof,
  "account.passwordResetRequested": mailReset,
  "account.updated": (env, siteId, event) => showAccountChange(env, siteId, idOf(event)),
  "account.tagsAdded": (env, siteId, event) =>
    retagViewers(
      env,
      siteId,
      dataOf(event).accounts.map(({ _id }) => _id),
    ),
  "account.tagsUpdated": (env, siteId, event) => retagViewers(env, siteId, [idOf(event)]),
};

/** Erases the person from the event log, poll counters, questions, chats and leaderboards, and cancels the account's entitlements. */
async function eraseAccount(env: Env, siteId: string, event: LoggedEvent<"account.deleted">): Promise<void> {
  await anonymizeVoter(env, siteId, idOf(event));
  await eraseFromChannels(env, siteId, idOf(event), event.sequence);
  await eraseFromRooms(env, siteId, idOf(event));
  await eraseFromLeaderboards(env, siteId, idOf(event));
  const ctx = systemCtx({ env, db: siteDb(env, siteId), now: Date.now() }, siteId, `system-${event.id}`);
  await cancelHeld(ctx, idOf(event));
  nudgeLogs(ctx);
  // Not awaited, because the log is busy with this event; the cron makes up for a failed nudge.
  void ctx.finish().catch(() => undefined);
  await siteLogOf(env, siteId).erase(event.resource, event.sequence);
}
