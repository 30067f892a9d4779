import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Leaderboard, PointsAwarded } from "./schemas.ts";

const ids = { leaderboard: "5eed0000000000000e007901" };

export const events = eventsOf(
  {
    services: ["leaderboard-service-v1"],
    ids,
    samples: [
      [
        /^leaderboard\.(created|updated|deleted)$/,
        {
          _id: ids.leaderboard,
          name: "Derby day",
          period: "event",
          startsAt: SAMPLE_MOMENT,
          endsAt: SAMPLE_MOMENT + 150 * MINUTE,
          channelIds: [SAMPLE_IDS.page],
          rules: [
            { on: "poll.answered", points: 10 },
            { on: "prediction.correct", points: 50 },
          ],
        },
      ],
      [/^leaderboard\.pointsAwarded$/, { leaderboardId: ids.leaderboard, awards: 24, points: 600 }],
    ],
  },
  {
    "leaderboard.created": { data: Leaderboard, description: "A leaderboard was created" },
    "leaderboard.deleted": { data: Leaderboard, description: "A leaderboard was deleted with its points" },
    "leaderboard.pointsAwarded": {
      data: PointsAwarded,
      description: "Keys or admins awarded points; at most one event a second, for all awards since the last",
      resource: "leaderboard/leaderboardId",
    },
    "leaderboard.updated": { data: Leaderboard, description: "A leaderboard was updated" },
  },
);
