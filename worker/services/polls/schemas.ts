import { z } from "@hono/zod-openapi";
import { POLL_TYPES } from "#db/enums.ts";
import type { PollRow } from "#db/schema/engagement/polls.ts";
import type { PollAnswer as StoredAnswer } from "#db/types.ts";
import type { CountedVote, VotePayment } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { commaSeparated, Id, ImageUrl, orNull, QueryBoolean, queryJson, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { MAX_BALANCE } from "#worker/services/wallets/schemas.ts";

const MAX_ANSWERS = 20;

const SiteId = Id.describe("Must equal Tifo-Client-Id").openapi({ example: "5eed00000000000000000001" });
const AnswerText = z.string().trim().min(1).max(200).openapi({ example: "Harbour City" });

export const PollAnswer = z.object({ _id: Id, pollId: Id, answer: AnswerText, imageUrl: ImageUrl.nullable() }).openapi("PollAnswer");

const AnswerInput = z.strictObject({
  _id: Id.optional().describe("Id of an existing answer, which is kept with its responses; omit it for a new answer"),
  pollId: Id.optional().describe("Must be the poll's id"),
  answer: AnswerText,
  imageUrl: ImageUrl.nullish(),
});

const Answers = z
  .array(AnswerInput)
  .max(MAX_ANSWERS)
  .refine((answers) => areDistinct(answers.flatMap(({ _id }) => _id ?? [])), "Two answers have the same _id")
  .refine((answers) => areDistinct(answers.map(({ answer }) => answer)), "Two answers have the same text");

export const AnswersInput = Answers.openapi("PollAnswersInput", {
  example: [{ answer: "Harbour City" }, { answer: "A draw" }, { answer: "Old Dock" }],
});

const fields = {
  type: z.enum(POLL_TYPES).describe("A prediction is settled when its outcome is known; the correct answer to trivia is known in advance"),
  question: z.string().trim().min(1).max(500).openapi({ example: "Who wins the derby?" }),
  name: z.string().trim().min(1).max(200).describe("Internal name").openapi({ example: "Derby result" }),
  open: z.boolean().describe("Whether it accepts responses"),
};
const settings = {
  responsesPerViewer: z.number().int().min(1).max(100).describe("Maximum number of responses per account"),
  hideResults: z.boolean().describe("Whether to hide the counts while the poll is open"),
};
const LocksAt = Time.nullable().describe(
  "Responses from this time on don't count, whatever their order of arrival, and the poll closes; null: when it is closed",
);
const ResponseCost = z
  .number()
  .int()
  .min(0)
  .max(MAX_BALANCE)
  .describe("What a response costs, in minor units of the viewer's wallet; 0: nothing. It can't change while the poll is open");
const CorrectAnswerId = Id.nullable().describe("Id of one of the poll's answers");

const replaceable = {
  siteId: SiteId,
  ...fields,
  correctAnswerId: CorrectAnswerId.optional(),
  responsesPerViewer: settings.responsesPerViewer.default(1),
  hideResults: settings.hideResults.default(false),
  responseCost: ResponseCost.default(0),
  locksAt: LocksAt.default(null),
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
    correctAnswerId: CorrectAnswerId.refine((id) => id === null, "Must be null, because the answers have no ids yet").optional(),
    answers: Answers.default([]),
  })
  .openapi("PollInput", { example: { ...example, answers: [{ answer: "Harbour City" }, { answer: "A draw" }, { answer: "Old Dock" }] } });

export const PollReplacement = z
  .strictObject(replaceable)
  .openapi("PollReplacement", { example: { ...example, question: "Who wins the cup?" } });

export const PollPatch = z
  .strictObject({ siteId: SiteId, ...fields, ...settings, responseCost: ResponseCost, locksAt: LocksAt, correctAnswerId: CorrectAnswerId })
  .partial()
  .openapi("PollPatch", { example: { open: false } });

export const Poll = z
  .object({
    _id: Id,
    siteId: Id,
    ...fields,
    ...settings,
    responseCost: ResponseCost,
    correctAnswerId: CorrectAnswerId.describe(
      "Null until the poll is settled, except for callers with a developer key or an admin's token",
    ),
    locksAt: LocksAt,
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
    .describe(
      "JSON filter by `_id`, `type`, `name`, `question` or `open`; `_id` and `type` also accept a list, `name` and `question` ignore case and accents",
    ),
};

export const ResponseInput = z
  .strictObject({
    answerId: Id,
    cost: ResponseCost.optional().describe(
      "The `responseCost` that the viewer has agreed to: required if the poll costs something, and a 409 if it is another one by now",
    ),
    channelId: Id.optional().describe(
      "The channel on which the viewer responds, for the site's insights; one that the site doesn't have is ignored",
    ),
  })
  .openapi("PollResponseInput", { example: { answerId: "5eed00000000000000600101" } });

export const PollResponse = z
  .object({
    pollId: Id,
    answerId: Id,
    userId: Id.describe("The account that responded"),
    siteId: Id,
    created: Time,
    charged: z.number().int().optional().describe("What the response has cost, if the poll costs something"),
    balance: z.number().int().optional().describe("The wallet's balance after paying for it"),
  })
  .openapi("PollResponse");

export const PollResults = z
  .object({
    pollId: Id,
    open: z.boolean(),
    total: z.number().int().describe("Total number of responses"),
    hidden: z.boolean().describe("Whether the counts are hidden because the poll is still open"),
    answers: z.array(
      z.object({
        answerId: Id,
        answer: AnswerText,
        responses: z.number().int().optional(),
        share: z.number().min(0).max(1).optional().describe("Fraction of the total, from 0 to 1"),
      }),
    ),
    correctAnswerId: Id.optional().describe("Present once the poll is settled"),
  })
  .openapi("PollResults");

export const PollStatesQuery = z.strictObject({
  ids: commaSeparated(Id, 20, "5eed00000000000000006001,5eed00000000000000006002").describe("Ids of polls, at most 20, comma-separated"),
});

export const PollState = z
  .object({
    poll: Poll,
    results: orNull(PollResults).describe("As of `GET /poll/v3/{id}/results`; null if the poll's counters didn't respond"),
    responses: z
      .array(PollResponse)
      .nullable()
      .describe("The caller's own, oldest first; empty without an account's token, null if the poll's counters didn't respond"),
  })
  .openapi("PollState");

export const SettleInput = z
  .strictObject({ correctAnswerId: Id.optional().describe("Defaults to the poll's own correctAnswerId") })
  .openapi("PollSettlement", { example: { correctAnswerId: "5eed00000000000000600101" } });

export const PollReference = z
  .object({ _id: Id, collection: z.enum(["poll", "quest"]), name: z.string() })
  .describe("`poll` is a panel that shows the poll")
  .openapi("PollReference");

export type PollInput = z.output<typeof PollInput>;
export type PollReplacement = z.output<typeof PollReplacement>;
export type PollPatch = z.output<typeof PollPatch>;
export type AnswersInput = z.output<typeof AnswersInput>;
export type PollState = z.output<typeof PollState>;
export type ResponseInput = z.output<typeof ResponseInput>;
export type RestrictedQuery = NonNullable<z.output<typeof PollFilters.rQuery>>;

function areDistinct(values: string[]): boolean {
  return new Set(values).size === values.length;
}

/** The wire form; only insiders see the correct answer of a poll that is not settled. */
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
    responseCost: row.responseCost,
    correctAnswerId: insider || row.settled !== null ? row.correctAnswerId : null,
    locksAt: row.locksAt,
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

export function toResponse(
  siteId: string,
  pollId: string,
  { accountId, answerId, created }: CountedVote,
  payment?: Pick<VotePayment, "charged"> & Partial<VotePayment>,
) {
  const paid = payment && { charged: payment.charged, balance: payment.balance };
  return { pollId, answerId, userId: accountId, siteId, created, ...paid } satisfies z.output<typeof PollResponse>;
}

/** The wire form of a response that its account reads again. */
export function toOwnResponse(siteId: string, pollId: string, { charged, ...vote }: CountedVote & { charged: number }) {
  return toResponse(siteId, pollId, vote, charged > 0 ? { charged } : undefined);
}
