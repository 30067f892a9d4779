import { z } from "@hono/zod-openapi";
import { POLL_TYPES } from "#db/enums.ts";
import type { PollRow } from "#db/schema/index.ts";
import type { PollAnswer as StoredAnswer } from "#db/types.ts";
import type { CountedVote } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { Id, ImageUrl, QueryBoolean, queryJson, Time, Tracked } from "#worker/lib/schemas/common.ts";

const MOST_ANSWERS = 20;

const SiteId = Id.describe("Must equal Tifo-Client-Id").openapi({ example: "5eed00000000000000000001" });
const AnswerText = z.string().trim().min(1).max(200).openapi({ example: "Harbour City" });

export const PollAnswer = z.object({ _id: Id, pollId: Id, answer: AnswerText, imageUrl: ImageUrl.nullable() }).openapi("PollAnswer");

const AnswerInput = z.strictObject({
  _id: Id.optional().describe("Of an answer that the poll has: it stays, with its responses; without one it is new"),
  pollId: Id.optional().describe("Must be the poll's id"),
  answer: AnswerText,
  imageUrl: ImageUrl.nullish(),
});

const Answers = z
  .array(AnswerInput)
  .max(MOST_ANSWERS)
  .refine((answers) => areDistinct(answers.flatMap(({ _id }) => _id ?? [])), "Two answers have one _id")
  .refine((answers) => areDistinct(answers.map(({ answer }) => answer)), "Two answers say the same");

export const AnswersInput = Answers.openapi("PollAnswersInput", {
  example: [{ answer: "Harbour City" }, { answer: "A draw" }, { answer: "Old Dock" }],
});

const fields = {
  type: z.enum(POLL_TYPES).describe("A prediction is settled when its outcome is known; of trivia the right answer is known before"),
  question: z.string().trim().min(1).max(500).openapi({ example: "Who wins the derby?" }),
  name: z.string().trim().min(1).max(200).describe("What the site calls it").openapi({ example: "Derby result" }),
  open: z.boolean().describe("Whether it takes responses"),
};
const settings = {
  responsesPerViewer: z.number().int().min(1).max(100).describe("Responses that one account may give"),
  hideResults: z.boolean().describe("Keeps who is ahead hidden while the poll is open"),
};
const CorrectAnswerId = Id.nullable().describe("One of the poll's answers");

const replaceable = {
  siteId: SiteId,
  ...fields,
  correctAnswerId: CorrectAnswerId.optional(),
  responsesPerViewer: settings.responsesPerViewer.default(1),
  hideResults: settings.hideResults.default(false),
};
const example = {
  siteId: "5eed00000000000000000001",
  type: "prediction",
  question: "Who wins the derby?",
  name: "Derby result",
  open: true,
};

export const PollInput = z
  .strictObject({
    ...replaceable,
    correctAnswerId: CorrectAnswerId.refine((id) => id === null, "Null: its answers have no ids yet").optional(),
    answers: Answers.default([]),
  })
  .openapi("PollInput", { example: { ...example, answers: [{ answer: "Harbour City" }, { answer: "A draw" }, { answer: "Old Dock" }] } });

export const PollReplacement = z
  .strictObject(replaceable)
  .openapi("PollReplacement", { example: { ...example, question: "Who wins the cup?" } });

export const PollPatch = z
  .strictObject({ siteId: SiteId, ...fields, ...settings, correctAnswerId: CorrectAnswerId })
  .partial()
  .openapi("PollPatch", { example: { open: false } });

export const Poll = z
  .object({
    _id: Id,
    siteId: Id,
    ...fields,
    ...settings,
    correctAnswerId: CorrectAnswerId.describe("Null until the poll is settled, but for callers who show a developer key"),
    settled: Time.nullable().describe("When it was settled, in milliseconds since 1970 UTC"),
    answers: z.array(PollAnswer),
    ...Tracked,
  })
  .openapi("Poll");

export const PollFilters = {
  type: z.enum(POLL_TYPES).optional(),
  open: QueryBoolean.optional(),
  rQuery: queryJson(
    z
      .strictObject({
        _id: z.union([Id, z.array(Id).max(200)]),
        type: z.union([fields.type, z.array(fields.type).max(3)]),
        name: z.string().max(200),
        question: z.string().max(500),
        open: z.boolean(),
      })
      .partial(),
  )
    .optional()
    .describe("JSON: what a poll's `_id`, `type`, `name`, `question` or `open` must be; of `_id` and `type` a list too"),
};

export const ResponseInput = z
  .strictObject({ answerId: Id })
  .openapi("PollResponseInput", { example: { answerId: "5eed00000000000000006a01" } });

export const PollResponse = z
  .object({ pollId: Id, answerId: Id, userId: Id.describe("The account that answered"), siteId: Id, created: Time })
  .openapi("PollResponse");

export const PollResults = z
  .object({
    pollId: Id,
    open: z.boolean(),
    total: z.number().int().describe("Responses to all answers"),
    hidden: z.boolean().describe("Whether the poll keeps the counts of its answers to itself while it is open"),
    answers: z.array(
      z.object({
        answerId: Id,
        answer: AnswerText,
        responses: z.number().int().optional(),
        share: z.number().min(0).max(1).optional().describe("Part of the total, from 0 to 1"),
      }),
    ),
    correctAnswerId: Id.optional().describe("Once the poll is settled"),
  })
  .openapi("PollResults");

export const SettleInput = z
  .strictObject({ correctAnswerId: Id.optional().describe("The poll's own correctAnswerId when left out") })
  .openapi("PollSettlement", { example: { correctAnswerId: "5eed00000000000000006a01" } });

export const PollReference = z
  .object({ _id: Id, collection: z.enum(["poll", "quest"]), name: z.string() })
  .describe("`poll`: a panel that asks it")
  .openapi("PollReference");

export type PollInput = z.output<typeof PollInput>;
export type PollReplacement = z.output<typeof PollReplacement>;
export type PollPatch = z.output<typeof PollPatch>;
export type AnswersInput = z.output<typeof AnswersInput>;
export type RestrictedQuery = NonNullable<z.output<typeof PollFilters.rQuery>>;

function areDistinct(values: string[]): boolean {
  return new Set(values).size === values.length;
}

/** The wire form; the right answer of a poll that is not settled is for insiders alone. */
export function toPoll(row: PollRow, insider: boolean) {
  return {
    _id: row.id,
    siteId: row.siteId,
    type: row.type,
    question: row.question,
    name: row.name,
    open: row.open,
    responsesPerViewer: row.responsesPerViewer,
    hideResults: row.hideResults,
    correctAnswerId: insider || row.settled !== null ? row.correctAnswerId : null,
    settled: row.settled,
    answers: toAnswers(row),
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Poll>;
}

export function toAnswers({ id, answers }: { id: string; answers: StoredAnswer[] }) {
  return answers.map((answer) => ({
    _id: answer.id,
    pollId: id,
    answer: answer.answer,
    imageUrl: answer.imageUrl,
  })) satisfies z.output<typeof PollAnswer>[];
}

export function toResponse(siteId: string, pollId: string, { accountId, answerId, created }: CountedVote) {
  return { pollId, answerId, userId: accountId, siteId, created } satisfies z.output<typeof PollResponse>;
}
