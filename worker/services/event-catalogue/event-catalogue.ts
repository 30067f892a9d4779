import type { z } from "@hono/zod-openapi";
import type { WebhookService } from "#db/enums.ts";
import { events as accessCodes } from "#worker/services/access-codes/events.ts";
import { events as accounts } from "#worker/services/accounts/events.ts";
import { events as auth } from "#worker/services/auth/events.ts";
import { events as automationRules } from "#worker/services/automation-rules/events.ts";
import { events as billing } from "#worker/services/billing/events.ts";
import { events as bundles } from "#worker/services/bundles/events.ts";
import { events as claimStatuses } from "#worker/services/claim-statuses/events.ts";
import { events as chat } from "#worker/services/chat/events.ts";
import { events as community } from "#worker/services/community/events.ts";
import { events as customEmail } from "#worker/services/custom-email/events.ts";
import { events as dataProviders } from "#worker/services/data-providers/events.ts";
import { events as events } from "#worker/services/events/events.ts";
import { events as invites } from "#worker/services/invites/events.ts";
import { events as leaderboards } from "#worker/services/leaderboards/events.ts";
import { events as graphics } from "#worker/services/graphics/events.ts";
import { events as media } from "#worker/services/media/events.ts";
import { events as navigation } from "#worker/services/navigation/events.ts";
import { events as outputs } from "#worker/services/outputs/events.ts";
import { events as overlays } from "#worker/services/overlays/events.ts";
import { events as pages } from "#worker/services/pages/events.ts";
import { events as panels } from "#worker/services/panels/events.ts";
import { events as playlists } from "#worker/services/playlists/events.ts";
import { events as polls } from "#worker/services/polls/events.ts";
import { events as qna } from "#worker/services/qna/events.ts";
import { events as quests } from "#worker/services/quests/events.ts";
import { events as rundowns } from "#worker/services/rundowns/events.ts";
import { events as schedule } from "#worker/services/schedule/events.ts";
import { events as shop } from "#worker/services/shop/events.ts";
import { events as sites } from "#worker/services/sites/events.ts";
import { events as streamProviders } from "#worker/services/stream-providers/events.ts";
import { events as streams } from "#worker/services/streams/events.ts";
import { events as subscriptions } from "#worker/services/subscriptions/events.ts";
import { events as themes } from "#worker/services/themes/events.ts";
import { events as videos } from "#worker/services/videos/events.ts";
import { events as wallets } from "#worker/services/wallets/events.ts";
import { events as webhooks } from "#worker/services/webhooks/events.ts";
import type { EventKind } from "./event-kind.ts";

/** Every event, by type. An area with events adds a line here. */
export const EVENTS = {
  ...accessCodes,
  ...accounts,
  ...auth,
  ...automationRules,
  ...billing,
  ...bundles,
  ...claimStatuses,
  ...chat,
  ...community,
  ...customEmail,
  ...dataProviders,
  ...events,
  ...invites,
  ...leaderboards,
  ...graphics,
  ...media,
  ...navigation,
  ...outputs,
  ...overlays,
  ...pages,
  ...panels,
  ...playlists,
  ...polls,
  ...qna,
  ...quests,
  ...rundowns,
  ...schedule,
  ...shop,
  ...sites,
  ...streamProviders,
  ...streams,
  ...subscriptions,
  ...themes,
  ...videos,
  ...wallets,
  ...webhooks,
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof EVENTS;

/** The `data` of an event of this type. */
export type EventData<Type extends EventType> = z.output<(typeof EVENTS)[Type]["data"]>;

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(EVENTS, type);
}

/** The services whose webhooks deliver an event, most specific first; defaults to the admin service for an unknown type. */
export function servicesOf(type: string): readonly WebhookService[] {
  return isEventType(type) ? EVENTS[type].services : ["admin-service-v1"];
}
