import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, MINUTE, MONTH, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { RecurringSubscription } from "#worker/services/wallets/schemas.ts";
import { StripeConnectionEvent } from "./connect-schemas.ts";
import { PaidDonation } from "./donation-schemas.ts";
import { Charge, Refund } from "./schemas.ts";

const ids = {
  recurring: "5eed0000000000000e006b01",
  refund: "5eed0000000000000e006c01",
  stripeaccount: "5eed0000000000000e006c90",
  donationspanel: "5eed0000000000000e00d010",
};

const sale = { resource: "charge/_id" };
const refund = { resource: "charge/chargeId" };
const connection = { data: StripeConnectionEvent, resource: "stripeaccount/_id" };
const recurring = { resource: "recurring/_id" };
const pass = { sku: "season-pass", skus: ["season-pass"] };

export const events = eventsOf(
  {
    services: ["billing-service-v1"],
    ids,
    samples: [
      [
        /^billing\.c/,
        {
          _id: SAMPLE_IDS.charge,
          status: "complete",
          amount: 1900,
          refunded: 0,
          refundPending: 0,
          description: "Season pass",
          ...pass,
          currency: "gbp",
          itemType: "subscription",
          itemId: SAMPLE_IDS.subscription,
          created: SAMPLE_MOMENT - MINUTE,
          receiptNumber: null,
          recurringId: null,
          failure: null,
        },
      ],
      [/^billing\.chargeCompleted$/, { receiptNumber: "R-2026-7Q4ZK9TD" }],
      [/^billing\.chargeDeclined$/, { status: "declined", failure: "Your card was declined." }],
      [/^billing\.checkoutStarted$/, { status: "pending", created: SAMPLE_MOMENT }],
      [
        /^billing\.recurring/,
        {
          _id: ids.recurring,
          itemId: SAMPLE_IDS.subscription,
          name: "Season pass",
          ...pass,
          status: "active",
          pastDue: false,
          amount: 1900,
          currency: "gbp",
          recurrence: "month",
          currentPeriodEnd: SAMPLE_MOMENT + MONTH,
          dateCancelled: null,
          dateDetached: null,
        },
      ],
      [
        /^billing\.refund/,
        {
          _id: ids.refund,
          amount: 1900,
          reason: "requested_by_customer",
          status: "pending",
          failure: null,
          created: SAMPLE_MOMENT - DAY,
        },
      ],
      [/^billing\.refundRequested$/, { created: SAMPLE_MOMENT }],
      [/^billing\.refunded$/, { status: "complete" }],
      [/^billing\.refundDeclined$/, { status: "declined", failure: "The card has expired." }],
      [
        /^donation\./,
        {
          ...{ _id: SAMPLE_IDS.charge, panelId: ids.donationspanel, channelId: SAMPLE_IDS.page, accountId: SAMPLE_IDS.viewer },
          ...{ amount: 1000, currency: "gbp", created: SAMPLE_MOMENT - MINUTE, paid: SAMPLE_MOMENT },
        },
      ],
      [
        /^billing\.account/,
        {
          _id: ids.stripeaccount,
          stripeAccount: "acct_1HarbourCity",
          connected: true,
          chargesEnabled: true,
          payoutsEnabled: true,
          detailsSubmitted: true,
          requirements: { currentlyDue: [], pastDue: [], disabledReason: null },
        },
      ],
      [/^billing\.accountDisconnected$/, { connected: false, chargesEnabled: false, payoutsEnabled: false }],
      [
        /^billing\.accountCreated$/,
        {
          ...{ connected: false, chargesEnabled: false, payoutsEnabled: false, detailsSubmitted: false },
          requirements: { currentlyDue: ["business_profile.url"], pastDue: [], disabledReason: "requirements.past_due" },
        },
      ],
    ],
  },
  {
    "billing.accountCreated": {
      ...connection,
      description: "A Stripe account was created for the site; its owner must still connect it",
    },
    "billing.accountDisconnected": {
      ...connection,
      description: "The owner disconnected the site's Stripe account; nothing can be sold until another is connected",
    },
    "billing.accountUpdated": { ...connection, description: "The capabilities or requirements of the site's Stripe account changed" },
    "billing.chargeCompleted": { data: Charge, description: "A charge was paid", ...sale },
    "billing.chargeDeclined": {
      data: Charge,
      description: "A charge was declined or its payment page expired",
      ...sale,
    },
    "billing.checkoutStarted": {
      data: Charge,
      description: "A payment page was opened",
      ...sale,
    },
    "billing.recurringStarted": { data: RecurringSubscription, description: "A recurring subscription started", ...recurring },
    "billing.recurringUpdated": {
      data: RecurringSubscription,
      description: "A recurring subscription was renewed, became past due, or changed its status",
      ...recurring,
    },
    "billing.refundDeclined": {
      data: Refund,
      description: "A refund was declined",
      ...refund,
    },
    "billing.refundPending": {
      data: Refund,
      description: "A refund is pending at Stripe",
      ...refund,
    },
    "billing.refundRequested": {
      data: Refund,
      description: "A refund was requested",
      ...refund,
    },
    "billing.refunded": { data: Refund, description: "A charge was refunded, in full or in part", ...refund },
    "donation.paid": {
      data: PaidDonation,
      description: "A donation was paid; its donor's name and message are in the list of donations",
      ...sale,
    },
  },
);
