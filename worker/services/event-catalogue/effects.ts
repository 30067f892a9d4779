import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { Broadcast, ClearTarget } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { sendClear, sendUncleared } from "#worker/services/overlays/broadcasts.ts";
import { nudgeLogs } from "#worker/services/core/context.ts";
import { mailProof } from "#worker/services/accounts/email-proofs.ts";
import { cancelHeld } from "#worker/services/subscriptions/entitlements.ts";
import { enqueueExport } from "#worker/services/community/exports.ts";
import { deleteFile } from "#worker/services/media/media.ts";
import { mailNewPassword, mailReset } from "#worker/services/accounts/passwords.ts";
import { forgetVoter, syncCounters } from "#worker/services/polls/counting.ts";
import { notifyQuestProgress } from "#worker/services/quests/frames.ts";
import { mailReceipt } from "#worker/services/billing/purchase-receipts.ts";
import { notifyRuleChange } from "#worker/services/automation-rules/automation.ts";
import { deliverToAutomation } from "#worker/services/data-providers/provider-events.ts";
import { channelOf } from "#worker/services/realtime/realtime.ts";
import { recheckViewers } from "#worker/services/realtime/rechecks.ts";
import { retagViewers } from "#worker/services/realtime/tags.ts";
import { mailRegisterInvite } from "#worker/services/invites/register-invites.ts";
import { notifyWentLive, notifyWentOffline } from "#worker/services/streams/frames.ts";
import { systemCtx } from "#worker/services/core/system.ts";

const BroadcastEvent = z.object({ channelIds: z.array(z.string()).nullable(), broadcast: Broadcast });
const Data = z.record(z.string(), z.unknown());
const Tagged = z.object({ accounts: z.array(z.object({ _id: z.string() })) });
const ClearEvent = z.object({ clearId: z.string(), channelIds: z.array(z.string()).nullable(), target: ClearTarget });

/**
 * What follows from an event, by its type. Each effect is safe to repeat: the log runs it until it has succeeded once.
 * Requests send broadcasts themselves, so that no screen waits for the log; here they are only made sure of.
 */
const EFFECTS: Record<string, (env: Env, siteId: string, event: LogEntry) => Promise<unknown>> = {
  "overlay.broadcast": (env, siteId, event) => sendUncleared(env, siteId, BroadcastEvent.parse(JSON.parse(event.data))),
  "overlay.cleared": (env, siteId, event) => sendClear(env, siteId, ClearEvent.parse(JSON.parse(event.data))),
  "account.deleted": forgetAccount,
  "account.credentialsVoided": mailNewPassword,
  "account.emailVerificationRequested": mailProof,
  "account.globalAccountRequested": mailProof,
  "account.passwordResetRequested": mailReset,
  "account.tagsAdded": (env, siteId, event) =>
    retagViewers(
      env,
      siteId,
      Tagged.parse(JSON.parse(event.data)).accounts.map(({ _id }) => _id),
    ),
  "account.tagsUpdated": (env, siteId, event) => retagViewers(env, siteId, [idOf(event)]),
  "admin.channelUpdated": (env, siteId, event) => notifyChannel(env, siteId, event),
  "admin.wentLive": notifyWentLive,
  "admin.wentOffline": notifyWentOffline,
  "admin.channelDeleted": (env, siteId, event) => channelOf(env, siteId, idOf(event)).end({ id: event.id }),
  "dataprovider.event": deliverToAutomation,
  "dataprovider.providerRegistered": notifyRuleChange,
  "dataprovider.providerUpdated": notifyRuleChange,
  "dataprovider.providerDeleted": notifyRuleChange,
  "personalization.ruleCreated": notifyRuleChange,
  "personalization.ruleUpdated": notifyRuleChange,
  "personalization.ruleDeleted": notifyRuleChange,
  "community.exportRequested": (env, siteId, event) => enqueueExport(env, siteId, idOf(event)),
  "billing.chargeCompleted": mailReceipt,
  "invite.registerCreated": mailRegisterInvite,
  "poll.updated": countByRow,
  "poll.opened": countByRow,
  "poll.closed": countByRow,
  "poll.settled": countByRow,
  "poll.deleted": countByRow,
  "quest.created": notifyQuestProgress,
  "quest.updated": notifyQuestProgress,
  "quest.deleted": notifyQuestProgress,
  "media.deleted": (env, _siteId, event) => deleteFile(env, idOf(event)),
};

export async function runEffects(env: Env, siteId: string, event: LogEntry): Promise<void> {
  await recheckViewers(env, siteId, event);
  await EFFECTS[event.type]?.(env, siteId, event);
}

/** What names a person goes from the log and from the counters of polls; what the account held ends. */
async function forgetAccount(env: Env, siteId: string, event: LogEntry): Promise<void> {
  await forgetVoter(env, siteId, idOf(event));
  const ctx = systemCtx({ env, db: createDb(env.DB), now: Date.now() }, siteId, `system-${event.id}`);
  await cancelHeld(ctx, idOf(event));
  nudgeLogs(ctx);
  // Not waited for: the log is at work on this event. The cron makes up for a nudge that fails.
  void ctx.finish().catch(() => undefined);
  await env.SITE_LOG.getByName(siteId).erase(event.resource, event.sequence);
}

function countByRow(env: Env, siteId: string, event: LogEntry): Promise<void> {
  return syncCounters(env, siteId, idOf(event));
}

/** Those viewers leave who don't pass the page's gate any more; the others hear of the change. */
async function notifyChannel(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const channel = channelOf(env, siteId, idOf(event));
  const emitted = channel.emit({ id: event.id, type: "page.updated", data: Data.parse(JSON.parse(event.data)) });
  await Promise.all([channel.checkGate(), emitted]);
}

/** The id in "<area>/<id>". */
function idOf(event: LogEntry): string {
  return event.resource.slice(event.resource.indexOf("/") + 1);
}
