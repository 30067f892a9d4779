import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { notifyRuleChange } from "./automation.ts";

export const effects: Effects = {
  "personalization.ruleCreated": notifyRuleChange,
  "personalization.ruleUpdated": notifyRuleChange,
  "personalization.ruleDeleted": notifyRuleChange,
  "personalization.rulesPaused": notifyRuleChange,
  "personalization.rulesResumed": notifyRuleChange,
};
