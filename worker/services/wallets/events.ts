import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Wallet } from "./schemas.ts";

const ids = { wallet: "5eed0000000000000e006f01" };

export const events = eventsOf(
  {
    services: ["wallet-service-v1"],
    ids,
    samples: [
      [/^wallet\./, { _id: ids.wallet, ownerId: SAMPLE_IDS.viewer, ownerType: "account", balance: 0, paymentCustomerId: null }],
      [/^wallet\.updated$/, { paymentCustomerId: "cus_HarbourCity01" }],
    ],
  },
  {
    "wallet.created": { data: Wallet, description: "A wallet was created for an account or the site" },
    "wallet.updated": { data: Wallet, description: "A wallet got a Stripe customer" },
  },
);
