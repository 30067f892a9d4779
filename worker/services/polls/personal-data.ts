import { and, eq } from "drizzle-orm";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import { type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";

export const pollData: PersonalData[] = [
  rowsOf(
    { name: "pollResponses", area: "poll", description: "Answers to polls, trivia and predictions" },
    {
      table: pollResponses,
      of: ({ siteId }, { accountId }) => and(eq(pollResponses.siteId, siteId), eq(pollResponses.accountId, accountId)),
      columns: {
        pollId: pollResponses.pollId,
        answerId: pollResponses.answerId,
        created: pollResponses.created,
        charged: pollResponses.charged,
      },
    },
  ),
];
