import { notifyRuleChange } from "#worker/services/automation-rules/automation.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { recordFacts } from "#worker/services/stats/record.ts";
import { deliverToAutomation } from "./provider-events.ts";

export const effects: Effects = {
  "dataprovider.event": async (env, siteId, event) => {
    await Promise.all([deliverToAutomation(env, siteId, event), recordFacts(env, siteId, event)]);
  },
  "dataprovider.providerRegistered": notifyRuleChange,
  "dataprovider.providerUpdated": notifyRuleChange,
  "dataprovider.providerDeleted": notifyRuleChange,
};
