import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { QuestionEvent } from "./schemas.ts";

const ids = { question: "5eed0000000000000e007701", otherQuestion: "5eed0000000000000e007702" };

export const events = eventsOf(
  {
    services: ["qna-service-v1"],
    ids,
    samples: [
      [
        /^question\./,
        {
          _id: ids.question,
          text: "Will Moreno start on Saturday?",
          state: "submitted",
          upvotes: 1,
          answer: null,
          answeredBy: null,
          mergedInto: null,
        },
      ],
      [/^question\.approved$/, { state: "approved" }],
      [/^question\.dismissed$/, { state: "dismissed" }],
      [/^question\.answered$/, { state: "answered", upvotes: 214, answer: "She trained today, so yes.", answeredBy: SAMPLE_IDS.admin }],
      [/^question\.merged$/, { state: "merged", upvotes: 12, mergedInto: ids.otherQuestion }],
    ],
  },
  {
    "question.submitted": { data: QuestionEvent, description: "A viewer asked a question, which waits for a moderator" },
    "question.approved": { data: QuestionEvent, description: "A question became public" },
    "question.dismissed": { data: QuestionEvent, description: "A question was dismissed, or hidden after it was public" },
    "question.answered": { data: QuestionEvent, description: "A question was answered, or its answer changed" },
    "question.merged": { data: QuestionEvent, description: "A question was merged into another, which got its voters" },
  },
);
