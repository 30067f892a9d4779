import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { fulfilClaim } from "./orders.ts";

export const effects: Effects = {
  "shopify.orderPaid": fulfilClaim,
};
