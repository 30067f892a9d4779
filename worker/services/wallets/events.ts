import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Wallet } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["wallet-service-v1"],
    samples: [
      [/^wallet\./, { _id: SAMPLE_IDS.wallet, ownerId: SAMPLE_IDS.viewer, ownerType: "account", balance: 0, paymentCustomerId: null }],
      [/^wallet\.updated$/, { paymentCustomerId: "cus_HarbourCity01" }],
    ],
  },
  {
    "wallet.created": { data: Wallet, description: "An account or the site got a wallet" },
    "wallet.updated": { data: Wallet, description: "The owner of a wallet became known to Stripe" },
  },
);
