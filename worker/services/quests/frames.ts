import { z } from "@hono/zod-openapi";
import { channelOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { Quest, QuestAction } from "./schemas.ts";

// Anonymous viewers receive this too, so it leaves out internal fields, what a claim reveals and the values that validate an action.
const PublicQuest = Quest.omit({ claimedMessage: true, webhookId: true, webhookType: true, webhookValue: true }).extend({
  actions: z.array(QuestAction.omit({ validationValue: true })),
});

/** Notifies a quest's channels, or every open channel for a site-wide quest, that it was changed, deleted, opened or ended. Idempotent. */
export async function notifyQuestChange(
  env: Env,
  siteId: string,
  event: LoggedEvent<"quest.created" | "quest.updated" | "quest.deleted" | "quest.opened" | "quest.ended">,
): Promise<void> {
  const quest = PublicQuest.parse(dataOf(event));
  const data = { ...quest, deleted: event.type === "quest.deleted" };
  const channelIds = quest.channelIds.length > 0 ? quest.channelIds : await openChannels(env, siteId);
  await Promise.all(channelIds.map((channelId) => channelOf(env, siteId, channelId).emit({ id: event.id, type: "quest.updated", data })));
}

/** Channels that open later read the current quests anyway. */
async function openChannels(env: Env, siteId: string): Promise<string[]> {
  const { channels } = await presenceOf(env, siteId).concurrents();
  return channels.map(({ channelId }) => channelId);
}
