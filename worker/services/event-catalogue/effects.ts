import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { effects as accounts } from "#worker/services/accounts/effects.ts";
import { effects as automationRules } from "#worker/services/automation-rules/effects.ts";
import { effects as billing } from "#worker/services/billing/effects.ts";
import { effects as community } from "#worker/services/community/effects.ts";
import { effects as dataProviders } from "#worker/services/data-providers/effects.ts";
import { effects as invites } from "#worker/services/invites/effects.ts";
import { effects as media } from "#worker/services/media/effects.ts";
import { effects as overlays } from "#worker/services/overlays/effects.ts";
import { effects as pages } from "#worker/services/pages/effects.ts";
import { effects as polls } from "#worker/services/polls/effects.ts";
import { effects as quests } from "#worker/services/quests/effects.ts";
import { effects as streams } from "#worker/services/streams/effects.ts";
import { recheckViewers } from "#worker/services/realtime/rechecks.ts";
import type { Effects } from "./effect.ts";
import { isEventType } from "./event-catalogue.ts";

// An area whose events have effects adds a line here; an event has one effect.
const EFFECTS: Effects = {
  ...accounts,
  ...automationRules,
  ...billing,
  ...community,
  ...dataProviders,
  ...invites,
  ...media,
  ...overlays,
  ...pages,
  ...polls,
  ...quests,
  ...streams,
};

export async function runEffects(env: Env, siteId: string, event: LogEntry): Promise<void> {
  await recheckViewers(env, siteId, event);
  if (isEventType(event.type)) await EFFECTS[event.type]?.(env, siteId, event);
}
