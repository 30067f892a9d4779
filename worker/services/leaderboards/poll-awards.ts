import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { findAudience } from "#worker/services/polls/audience.ts";
import { boardsOf, counts, ruleOf } from "./paying.ts";

const SOURCES = { prediction: "prediction.correct", trivia: "trivia.correct" } as const;

/** Has the leaderboards pay for a poll's outcome; they read the responses themselves, however many there are. Idempotent. */
export async function payForOutcome(env: Env, siteId: string, event: LoggedEvent<"poll.settled">): Promise<void> {
  const { pollId, type, correctAnswerId } = dataOf(event);
  if (type === "poll" || !correctAnswerId) return;
  const boards = (await boardsOf(env, siteId)).flatMap((board) => {
    const rule = ruleOf(board, SOURCES[type]);
    return rule ? [{ ...board, rule }] : [];
  });
  if (boards.length === 0) return;
  const { channelIds } = await findAudience(env, siteId, pollId, undefined);
  await Promise.all(
    boards
      .filter((board) => counts(board, channelIds))
      .map(({ id, rule, startsAt, endsAt }) => {
        const settlement = { pollId, version: event.sequence, answerId: correctAnswerId, rule, at: event.created, startsAt, endsAt };
        return leaderboardOf(env, siteId, id).settle(settlement);
      }),
  );
}
