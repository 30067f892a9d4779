import { notifyRuleChange } from "#worker/services/automation-rules/automation.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { deliverToAutomation } from "./provider-events.ts";

export const effects: Effects = {
  "dataprovider.event": deliverToAutomation,
  "dataprovider.providerRegistered": notifyRuleChange,
  "dataprovider.providerUpdated": notifyRuleChange,
  "dataprovider.providerDeleted": notifyRuleChange,
};
