import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type Effects, idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { boardsOf, type Deed, forgetBoards, limitsChannels, pay, type PayingBoard } from "./paying.ts";
import { withdrawTop } from "./viewers.ts";

export const effects: Effects = {
  "leaderboard.created": async (_env, siteId) => forgetBoards(siteId),
  "leaderboard.updated": async (env, siteId, event) => {
    forgetBoards(siteId);
    await leaderboardOf(env, siteId, idOf(event)).changed();
  },
  "leaderboard.deleted": async (env, siteId, event) => {
    forgetBoards(siteId);
    await leaderboardOf(env, siteId, idOf(event)).clear();
    await withdrawTop(env, siteId, idOf(event), dataOf(event).channelIds, Date.now());
  },
  "quest.claimed": payForClaim,
  "claim.updated": payForClaim,
};

/** A claim proves that the quest is complete; SUCCESS that the reward was delivered. */
async function payForClaim(env: Env, siteId: string, event: LoggedEvent<"quest.claimed" | "claim.updated">): Promise<void> {
  const boards = await boardsOf(env, siteId);
  if (boards.length === 0) return;
  const { _id, questId, accountId, status } = dataOf(event);
  const channelIds = await channelsOfQuest(env, siteId, questId, boards);
  const deed = (cause: string): Deed[] => [{ accountId, cause, at: event.created }];
  if (event.type === "quest.claimed") await pay(env, siteId, boards, "quest.completed", deed(questId), channelIds);
  if (status === "SUCCESS") await pay(env, siteId, boards, "claim.succeeded", deed(_id), channelIds);
}

/** The quest's channels, if they matter to a board; a deleted quest counts for the whole site. */
async function channelsOfQuest(env: Env, siteId: string, questId: string, boards: PayingBoard[]): Promise<string[]> {
  if (!limitsChannels(boards)) return [];
  const [quest] = await siteDb(env, siteId)
    .select({ channelIds: quests.channelIds })
    .from(quests)
    .where(and(eq(quests.siteId, siteId), eq(quests.id, questId)));
  return quest?.channelIds ?? [];
}
