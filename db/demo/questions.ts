import type { questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { CHANNEL_1, KICK_OFF, SITE_A } from "./match-day.ts";
import { supporterId } from "./members.ts";

type QuestionInsert = typeof questions.$inferInsert;

const MINUTE = 60_000;
const ADMIN = "5eed0000000000000000a001";
const MORENO = questionId(1);

/** What the supporters ask on match day. `voters`: the supporters that upvoted it; the first one asked. */
const ASKED: { text: string; voters: number[]; fields?: Partial<QuestionInsert> }[] = [
  { text: "Will Ada Moreno play the full ninety minutes after her injury?", voters: [0, 1, 2, 4, 5], fields: { state: "approved" } },
  {
    text: "When do season tickets for next year go on sale?",
    voters: [3, 0, 2, 5],
    fields: { state: "answered", answer: "On 1 December at nine, for members first.", answeredBy: ADMIN },
  },
  { text: "Why is the Quayside stand closed today?", voters: [4, 1], fields: { state: "approved" } },
  { text: "Is Moreno fit again?", voters: [5], fields: { state: "merged", mergedInto: MORENO } },
  { text: "Is there a ferry back to Old Dock after extra time?", voters: [2], fields: { state: "answered" } },
  { text: "Who takes the penalties now?", voters: [1] },
  { text: "Could the announcer read out my mother's birthday?", voters: [3] },
];

export function demoQuestions(): QuestionInsert[] {
  return ASKED.map(({ text, voters, fields }, index) => {
    const created = KICK_OFF - (60 - 7 * index) * MINUTE;
    const [asker = 0] = voters;
    return {
      id: questionId(index + 1),
      siteId: SITE_A,
      channelId: CHANNEL_1,
      accountId: supporterId(asker),
      text,
      state: "submitted",
      upvotes: voters.length,
      created,
      modified: created + 2 * MINUTE,
      ...fields,
    };
  });
}

export function demoQuestionUpvotes(): (typeof questionUpvotes.$inferInsert)[] {
  return demoQuestions().flatMap(({ id, created }, index) =>
    (ASKED[index]?.voters ?? []).map((voter) => ({ siteId: SITE_A, questionId: id, accountId: supporterId(voter), created })),
  );
}

function questionId(number: number): string {
  return `5eed000000000000000077${String(number).padStart(2, "0")}`;
}
