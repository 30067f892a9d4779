import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { AutomationRule, RulePause } from "./schemas.ts";

const ids = { rule: "5eed0000000000000e00a701" };

const trigger = { dataProviderId: SAMPLE_IDS.dataprovider, fact: "match.goal", operator: "equals", value: "home", behavior: "immediate" };
const targeting = { scope: "channel", segment: "viewers_all", priority: 10 };
const action = {
  type: "SEND_OVERLAY",
  targeting,
  templateId: SAMPLE_IDS.overlay,
  variableMapping: { scorer: { type: "dynamic", value: "match.scorer" } },
};

export const events = eventsOf(
  {
    services: ["dataprovider-service-v1"],
    ids,
    samples: [
      [/^personalization\./, { _id: ids.rule, name: "Goal overlay", active: true, clientRule: false, jsonRule: { trigger, action } }],
      [/^personalization\.rules/, { channelId: SAMPLE_IDS.page }],
    ],
  },
  {
    "personalization.ruleCreated": { data: AutomationRule, description: "An automation rule was created", resource: "rule/_id" },
    "personalization.ruleDeleted": { data: AutomationRule, description: "An automation rule was deleted", resource: "rule/_id" },
    "personalization.rulesPaused": {
      data: RulePause,
      description: "The automation rules of a channel were paused",
      resource: "page/channelId",
    },
    "personalization.rulesResumed": {
      data: RulePause,
      description: "The automation rules of a channel apply again",
      resource: "page/channelId",
    },
    "personalization.ruleUpdated": { data: AutomationRule, description: "An automation rule was updated", resource: "rule/_id" },
  },
);
