import { and, eq } from "drizzle-orm";
import { questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";

const area = "qna";

export const questionData: PersonalData[] = [
  rowsOf(
    { name: "questions", area, description: "Questions that the account asked" },
    {
      table: questions,
      of: ({ siteId }, { accountId }) => and(eq(questions.siteId, siteId), eq(questions.accountId, accountId)),
      columns: {
        _id: questions.id,
        channelId: questions.channelId,
        text: questions.text,
        original: questions.original,
        state: questions.state,
        upvotes: questions.upvotes,
        answer: questions.answer,
        mergedInto: questions.mergedInto,
        askedAt: questions.created,
      },
    },
  ),
  rowsOf(
    { name: "questionUpvotes", area, description: "Questions that the account upvoted" },
    {
      table: questionUpvotes,
      of: ({ siteId }, { accountId }) => and(eq(questionUpvotes.siteId, siteId), eq(questionUpvotes.accountId, accountId)),
      columns: { questionId: questionUpvotes.questionId, created: questionUpvotes.created },
    },
  ),
];
