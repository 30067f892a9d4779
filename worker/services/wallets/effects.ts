import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";

export const effects: Effects = {
  // Reasons and references are free text, and the Stripe customer is a person.
  "wallet.deleted": (env, siteId, event) => siteLogOf(env, siteId).erase(event.resource, event.sequence),
};
