import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { DeletedWallet, Wallet, WalletTransaction } from "./schemas.ts";

const ids = { wallet: "5eed0000000000000e006f01", transaction: "5eed0000000000000e006f51" };

export const events = eventsOf(
  {
    services: ["wallet-service-v1"],
    ids,
    samples: [
      [/^wallet\./, { _id: ids.wallet, ownerId: SAMPLE_IDS.viewer, ownerType: "account", balance: 0, paymentCustomerId: null }],
      [/^wallet\.updated$/, { paymentCustomerId: "cus_HarbourCity01" }],
      [
        /^wallet\.transactionCreated$/,
        {
          ...{ _id: ids.transaction, walletId: ids.wallet, transactionId: "goal-of-the-month-11", amount: 500, balance: 750 },
          ...{ reason: "Goal of the month", reference: "vote 11", createdBy: "developer:5eed0000000000000e00e001" },
        },
      ],
    ],
  },
  {
    "wallet.created": { data: Wallet, description: "A wallet was created for an account or the site" },
    "wallet.deleted": { data: DeletedWallet, description: "A wallet was deleted with its account" },
    "wallet.transactionCreated": {
      data: WalletTransaction,
      description: "A wallet was credited or debited",
      resource: "wallet/walletId",
    },
    "wallet.updated": { data: Wallet, description: "A wallet got a Stripe customer" },
  },
);
