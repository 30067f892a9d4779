import type { WebhookService } from "#db/enums.ts";

// By how an event's type begins, the first that fits; of several services any one tells of the event.
const BY_PREFIX: readonly (readonly [string, readonly [WebhookService, ...WebhookService[]]])[] = [
  ["admin.went", ["stream-service-v1", "admin-service-v1"]],
  ["admin.vod", ["video-service-v3", "admin-service-v1"]],
  ["admin.", ["page-service-v2", "admin-service-v1"]],
  ["accesscode.", ["accesscode-service-v1"]],
  ["account.", ["account-service-v3"]],
  ["new_account", ["account-service-v3"]],
  ["device.", ["account-service-v3"]],
  ["auth.", ["auth-service-v2"]],
  ["entitlement_", ["subscription-service-v2", "billing-service-v1"]],
  ["subscription.", ["subscription-service-v2"]],
  ["bundle.", ["subscription-service-v2", "shopify-service-v1"]],
  ["billing.", ["billing-service-v1"]],
  ["wallet.", ["wallet-service-v1"]],
  ["community.", ["community-service-v1"]],
  ["dataprovider.", ["dataprovider-service-v1"]],
  ["personalization.", ["dataprovider-service-v1"]],
  ["event.", ["event-service-v1"]],
  ["invite.", ["invite-service-v1"]],
  ["overlay.", ["overlay-service-v1"]],
  ["poll.", ["poll-service-v3"]],
  ["quest.", ["quest-service-v2"]],
  ["claim.", ["quest-service-v2"]],
  ["raffle.", ["quest-service-v2"]],
  ["stream.", ["stream-service-v1"]],
  ["video.", ["video-service-v3"]],
  ["playlist.", ["video-service-v3"]],
];

/** The services that tell of an event, the one closest to it first; what belongs to no other is the administration's. */
export function servicesOf(type: string): readonly WebhookService[] {
  return BY_PREFIX.find(([prefix]) => type.startsWith(prefix))?.[1] ?? ["admin-service-v1"];
}
