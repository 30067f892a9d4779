import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { mailReceipt } from "./purchase-receipts.ts";

export const effects: Effects = {
  "billing.chargeCompleted": mailReceipt,
};
