import { siteDb } from "#db/databases.ts";
import type { CountedVote } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { findAudience } from "#worker/services/polls/audience.ts";
import { limitsChannels, pay, selectPaying } from "./paying.ts";

/** Pays for votes that are in the database. Idempotent. */
export async function payForVotes(env: Env, siteId: string, pollId: string, votes: CountedVote[]): Promise<void> {
  const boards = await selectPaying(siteDb(env, siteId), siteId, "poll.answered");
  if (boards.length === 0) return;
  const channelIds = limitsChannels(boards) ? (await findAudience(env, siteId, pollId, undefined)).channelIds : [];
  const deeds = votes.map(({ accountId, n, created }) => ({ accountId, cause: `${pollId}/${n}`, at: created }));
  await pay(env, siteId, boards, "poll.answered", deeds, channelIds);
}
