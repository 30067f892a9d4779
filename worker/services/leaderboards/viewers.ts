import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import type { StateChange } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { Standing } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import type { SentLeaderboard } from "#worker/durable-objects/relay/relay.protocol.ts";
import { channelOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { idsOf, selectPeople, toRanks } from "./members.ts";

/** Sends the top of a leaderboard to the viewers of its channels, or of the whole site. */
export async function publishTop(env: Env, siteId: string, leaderboardId: string, standings: Standing[], at: number): Promise<void> {
  const db = siteDb(env, siteId);
  const [[board], people] = await db.batch([
    db
      .select({ channelIds: leaderboards.channelIds })
      .from(leaderboards)
      .where(and(eq(leaderboards.siteId, siteId), eq(leaderboards.id, leaderboardId))),
    selectPeople(db, siteId, idsOf(standings)),
  ]);
  if (!board) return;
  const sent: SentLeaderboard = { leaderboardId, top: toRanks(standings, people) };
  await send(env, siteId, board.channelIds, { key: leaderboardId, type: "leaderboard.updated", at, data: JSON.stringify(sent) });
}

/** Viewers who connect later don't receive a deleted leaderboard. */
export async function withdrawTop(env: Env, siteId: string, leaderboardId: string, channelIds: string[], at: number): Promise<void> {
  await send(env, siteId, channelIds, { key: leaderboardId, type: "leaderboard.updated", at, data: null });
}

async function send(env: Env, siteId: string, channelIds: string[], change: StateChange): Promise<void> {
  if (channelIds.length === 0) return presenceOf(env, siteId).state(change);
  await Promise.all(channelIds.map((channelId) => channelOf(env, siteId, channelId).state(change)));
}
