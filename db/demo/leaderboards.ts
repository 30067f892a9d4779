import type { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import { CHANNEL_1, DAY, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { supporterId } from "./members.ts";

/** The season's leaderboard of site A, which the main stage shows. */
export const SEASON_BOARD = "5eed00000000000000007801";

export function demoLeaderboards(): (typeof leaderboards.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: SEASON_BOARD,
      siteId: SITE_A,
      name: "Supporters of the season",
      period: "season",
      startsAt: KICK_OFF - 100 * DAY,
      endsAt: KICK_OFF + 200 * DAY,
      channelIds: [CHANNEL_1],
      rules: [
        { on: "poll.answered", points: 10 },
        { on: "prediction.correct", points: 50 },
        { on: "trivia.correct", points: 20 },
        { on: "quest.completed", points: 30 },
        { on: "minute.watched", points: 1, perDay: 180 },
        { on: "message.liked", points: 2, perDay: 50 },
      ],
    },
    { ...stamps, id: "5eed00000000000000007802", siteId: SITE_A, name: "All time", period: "all", channelIds: [], rules: [] },
    { ...stamps, id: "5eed00000000000000007811", siteId: SITE_B, name: "Dock legends", period: "all", channelIds: [], rules: [] },
  ];
}

/** Awards of the season so far. They are sent to the running server, whose objects store them; a repeated one changes nothing. */
export function demoAwards(): { accountId: string; points: number; reason: string; awardId: string }[] {
  const points = [340, 310, 310, 180, 120, 60];
  const supporters = points.map((amount, index) => ({ accountId: supporterId(index), points: amount }));
  return [...supporters, { accountId: "5eed0000000000000000a003", points: 150 }].map((award, index) => ({
    ...award,
    reason: "Matches before the derby",
    awardId: `demo-${index}`,
  }));
}
