import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { Quest, QuestAction } from "./schemas.ts";
import { channelOf, presenceOf } from "#worker/services/realtime/realtime.ts";

// Also those who have not signed in hear of it: what is for the site's own systems, and what proves an action, is none of theirs.
const PublicQuest = Quest.omit({ webhookId: true, webhookType: true, webhookValue: true }).extend({
  actions: z.array(QuestAction.omit({ validationValue: true })),
});

/** Tells a quest's channels, or every open channel where it is the whole site's, that it was made, changed or deleted. Safe to repeat. */
export async function notifyQuestProgress(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const quest = PublicQuest.parse(JSON.parse(event.data));
  const data = { ...quest, deleted: event.type === "quest.deleted" };
  const channelIds = quest.channelIds.length > 0 ? quest.channelIds : await openChannels(env, siteId);
  await Promise.all(channelIds.map((channelId) => channelOf(env, siteId, channelId).emit({ id: event.id, type: "quest.updated", data })));
}

/** Whoever opens another one later reads the quests as they are then. */
async function openChannels(env: Env, siteId: string): Promise<string[]> {
  const { channels } = await presenceOf(env, siteId).concurrents();
  return channels.map(({ channelId }) => channelId);
}
