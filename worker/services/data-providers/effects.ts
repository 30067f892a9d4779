import { automationOf } from "#worker/durable-objects/stubs.ts";
import { notifyRuleChange } from "#worker/services/automation-rules/automation.ts";
import { dataOf, type Effects, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { recordFacts } from "#worker/services/stats/record.ts";

export const effects: Effects = {
  "dataprovider.event": async (env, siteId, event) => {
    await Promise.all([deliverToAutomation(env, siteId, event), recordFacts(env, siteId, event)]);
  },
  "dataprovider.providerRegistered": notifyRuleChange,
  "dataprovider.providerUpdated": notifyRuleChange,
  "dataprovider.providerDeleted": notifyRuleChange,
};

/** Ensures that the automation has received a committed event; safe to repeat. */
async function deliverToAutomation(env: Env, siteId: string, event: LoggedEvent<"dataprovider.event">): Promise<void> {
  const { id, providerId, at, data } = dataOf(event);
  await automationOf(env, siteId).handle({ id, providerId, at, data });
}
