import { eventsOf, type SampleValues } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, MONTH, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Entitlement, Subscription } from "./schemas.ts";

const samples: SampleValues = [
  [
    /^entitlement_/,
    {
      _id: SAMPLE_IDS.entitlement,
      entitlement: "season-pass",
      grantedMethod: "purchased",
      price: 1900,
      presentmentCurrency: "gbp",
      refunded: 0,
      status: "active",
      dateGranted: SAMPLE_MOMENT - MONTH,
      dateCancelled: null,
      dateRefunded: null,
      dateEnds: SAMPLE_MOMENT,
    },
  ],
  [
    /^entitlement_granted$/,
    { grantedMethod: "customerService", price: 0, presentmentCurrency: null, dateEnds: null, dateGranted: SAMPLE_MOMENT },
  ],
  [/^entitlement_purchased$/, { dateGranted: SAMPLE_MOMENT, dateEnds: SAMPLE_MOMENT + MONTH }],
  [/^entitlement_renewed$/, { dateEnds: SAMPLE_MOMENT + MONTH }],
  [/^entitlement_cancelScheduled$/, { status: "cancelScheduled", dateCancelled: SAMPLE_MOMENT, dateEnds: SAMPLE_MOMENT + 9 * DAY }],
  [/^entitlement_(cancelled|expired|revoked|refunded)$/, { status: "cancelled", dateCancelled: SAMPLE_MOMENT }],
  [
    /^entitlement_refunded$/,
    { refunded: 1900, dateRefunded: SAMPLE_MOMENT, dateCancelled: SAMPLE_MOMENT - DAY, dateEnds: SAMPLE_MOMENT - DAY },
  ],
  [
    /^subscription\./,
    {
      _id: SAMPLE_IDS.subscription,
      name: "Season pass",
      sku: "season-pass",
      subscriptionProvider: "stripe",
      recurrence: "month",
      prices: [{ currency: "gbp", default: true, value: 1900 }],
      stripePlanId: null,
      previewDurationSeconds: 300,
    },
  ],
];

export const events = {
  ...eventsOf(
    { services: ["subscription-service-v2", "billing-service-v1"], samples },
    {
      entitlement_cancelled: { data: Entitlement, description: "An entitlement was cancelled" },
      entitlement_cancelScheduled: { data: Entitlement, description: "An entitlement will end at the end of its paid period" },
      entitlement_expired: { data: Entitlement, description: "An entitlement expired" },
      entitlement_granted: { data: Entitlement, description: "An entitlement was granted without a purchase" },
      entitlement_purchased: { data: Entitlement, description: "An entitlement was purchased" },
      entitlement_refunded: { data: Entitlement, description: "The refunded amount of an entitlement changed" },
      entitlement_renewed: { data: Entitlement, description: "An entitlement was renewed by a payment" },
      entitlement_revoked: { data: Entitlement, description: "An entitlement was revoked" },
    },
  ),
  ...eventsOf(
    { services: ["subscription-service-v2"], samples },
    {
      "subscription.created": { data: Subscription, description: "A subscription was created" },
      "subscription.deleted": { data: Subscription, description: "A subscription was deleted" },
      "subscription.updated": { data: Subscription, description: "A subscription was updated" },
    },
  ),
};
