import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { effects as accounts } from "#worker/services/accounts/effects.ts";
import { effects as automationRules } from "#worker/services/automation-rules/effects.ts";
import { effects as billing } from "#worker/services/billing/effects.ts";
import { effects as chat } from "#worker/services/chat/effects.ts";
import { effects as community } from "#worker/services/community/effects.ts";
import { effects as dataProviders } from "#worker/services/data-providers/effects.ts";
import { effects as invites } from "#worker/services/invites/effects.ts";
import { effects as leaderboards } from "#worker/services/leaderboards/effects.ts";
import { effects as graphics } from "#worker/services/graphics/effects.ts";
import { effects as media } from "#worker/services/media/effects.ts";
import { effects as overlays } from "#worker/services/overlays/effects.ts";
import { effects as pages } from "#worker/services/pages/effects.ts";
import { effects as polls } from "#worker/services/polls/effects.ts";
import { effects as qna } from "#worker/services/qna/effects.ts";
import { effects as quests } from "#worker/services/quests/effects.ts";
import { effects as rundowns } from "#worker/services/rundowns/effects.ts";
import { effects as segments } from "#worker/services/segments/effects.ts";
import { effects as schedule } from "#worker/services/schedule/effects.ts";
import { effects as shop } from "#worker/services/shop/effects.ts";
import { effects as streams } from "#worker/services/streams/effects.ts";
import { effects as wallets } from "#worker/services/wallets/effects.ts";
import { channelOf } from "#worker/durable-objects/stubs.ts";
import { mayRecheckViewers, recheckViewers } from "#worker/services/realtime/rechecks.ts";
import { type Effects, idOf, type LoggedEvent } from "./effect.ts";
import { type EventType, isEventType } from "./event-catalogue.ts";

// An area whose events have effects adds a line here; an event has one effect.
const EFFECTS: Effects = {
  ...accounts,
  ...automationRules,
  ...billing,
  ...chat,
  ...community,
  ...dataProviders,
  ...invites,
  ...leaderboards,
  ...graphics,
  ...media,
  ...overlays,
  ...pages,
  ...polls,
  ...qna,
  ...quests,
  ...rundowns,
  ...segments,
  ...schedule,
  ...shop,
  ...streams,
  ...wallets,
};

/**
 * Events whose effects concern only their own resource, or whose order doesn't matter: those of different resources may run side by side.
 * The effects of any other event run alone, because they may depend on what came before, as a deletion does.
 */
const SIDE_BY_SIDE: ReadonlySet<EventType> = new Set<EventType>([
  "account.credentialsVoided",
  "account.emailVerificationRequested",
  "account.globalAccountRequested",
  "account.passwordResetRequested",
  "account.tagsUpdated",
  "account.updated",
  "admin.channelUpdated",
  "billing.chargeCompleted",
  "chat.messageApproved",
  "chat.messageRemoved",
  "claim.updated",
  "dataprovider.event",
  "graphic.deleted",
  "invite.registerCreated",
  "media.deleted",
  "poll.closed",
  "poll.created",
  "poll.opened",
  "poll.settled",
  "poll.updated",
  "quest.claimed",
  "quest.created",
  "quest.ended",
  "quest.opened",
  "quest.updated",
  "question.answered",
  "question.approved",
  "question.dismissed",
  "question.submitted",
  "schedule.created",
]);

/** Events with the same lane have their effects run in order; null if nothing else may run at the same time. */
export function laneOf(event: LogEntry): string | null {
  if (!isCatalogued(event)) return event.resource;
  return EFFECTS[event.type] && !SIDE_BY_SIDE.has(event.type) ? null : event.resource;
}

/** Whether anything follows from an event of this kind, besides its delivery to webhooks. */
export function hasEffects(event: Pick<LogEntry, "type" | "resource">): boolean {
  return (isEventType(event.type) && EFFECTS[event.type] !== undefined) || mayRecheckViewers(event);
}

/** Runs an event's effects; `isRechecked`: `recheckAccess` has succeeded for it already. */
export async function runEffects(env: Env, siteId: string, event: LogEntry, isRechecked = false): Promise<void> {
  const effect = isCatalogued(event) ? runEffect(env, siteId, event) : undefined;
  await Promise.all([isRechecked ? undefined : recheckAccess(env, siteId, event), effect]);
}

function isCatalogued(event: LogEntry): event is LoggedEvent {
  return isEventType(event.type);
}

function runEffect<Type extends EventType>(env: Env, siteId: string, event: LoggedEvent<Type>): Promise<unknown> | undefined {
  return EFFECTS[event.type]?.(env, siteId, event);
}

/** Disconnects the viewers whose access ends with an event. The log runs this ahead of all effects, so that none delays it. Safe to repeat. */
export async function recheckAccess(env: Env, siteId: string, event: LogEntry): Promise<void> {
  await recheckViewers(env, siteId, event);
  if (event.type === "admin.channelUpdated") await channelOf(env, siteId, idOf(event)).checkGate();
}
