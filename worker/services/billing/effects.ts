import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { thankDonor } from "./donation-thanks.ts";
import { mailReceipt } from "./purchase-receipts.ts";

export const effects: Effects = {
  "billing.chargeCompleted": mailReceipt,
  "donation.paid": thankDonor,
};
