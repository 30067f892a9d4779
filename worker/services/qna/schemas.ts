import { z } from "@hono/zod-openapi";
import { POSITIONS, QUESTION_SORTS, QUESTION_STATES } from "#db/enums.ts";
import type { QuestionRow } from "#db/schema/engagement/questions.ts";
import type { SentQuestion } from "#worker/durable-objects/relay/relay.protocol.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Duration } from "#worker/services/overlays/schemas.ts";
import { isPublic } from "./question-state.ts";

const MAX_TEXT = 500;
const MAX_ANSWER = 2_000;

const State = z
  .enum(QUESTION_STATES)
  .describe(
    "`submitted`: waits for a moderator. `approved`: public. `answered`: public, and answered. `merged`: part of the question in `mergedInto`. `dismissed`: not shown",
  );

const codePoints = (max: number) => (text: string) => [...text].length <= max;

/** Longer than any text of that many code points. */
const Text = z
  .string()
  .max(4 * MAX_TEXT)
  .refine(codePoints(MAX_TEXT), `At most ${MAX_TEXT} characters`)
  .describe(`1 to ${MAX_TEXT} characters; line breaks become spaces`)
  .openapi({ example: "Will Moreno start on Saturday?" });

export const QuestionInput = z
  .strictObject({ text: Text })
  .openapi("QuestionInput", { example: { text: "Will Moreno start on Saturday?" } });

export const QuestionDecision = z
  .strictObject({
    state: z.enum(["approved", "dismissed", "answered", "merged"]),
    answer: z
      .string()
      .trim()
      .min(1)
      .max(MAX_ANSWER)
      .nullish()
      .describe("With `answered` only; omit it for a question that is answered live"),
    mergedInto: Id.nullish().describe("With `merged`, required: a public question of the same channel"),
  })
  .refine(({ state, answer }) => state === "answered" || !answer, { path: ["answer"], message: "Only with the state answered" })
  .refine(({ state, mergedInto }) => (state === "merged") === Boolean(mergedInto), {
    path: ["mergedInto"],
    message: "Required with the state merged, and only with it",
  })
  .openapi("QuestionDecision", { example: { state: "answered", answer: "She trained today, so yes." } });

export const Question = z
  .object({
    _id: Id,
    channelId: Id,
    accountId: Id.describe("The account that asked"),
    name: z.string().describe("Its name").openapi({ example: "Sam Okoye" }),
    text: Text,
    original: z.string().optional().describe("For moderators: the text as it was asked, if words of it are masked"),
    state: State,
    upvotes: z.number().int().nonnegative().describe("Accounts that upvoted it, including the one that asked"),
    upvoted: z.boolean().describe("Whether the caller has upvoted it"),
    answer: z.string().nullable().describe("Null unless it was answered in writing"),
    answeredBy: z.string().nullable().describe("The name of the account that answered"),
    mergedInto: Id.nullable().describe("The question that has taken over its voters"),
    askedAt: Time,
    revision: z.number().int().describe("Rises with every change, upvotes included: of two copies, the higher one is newer"),
    muted: z.boolean().optional().describe("For moderators: whether the account is muted, so that the question can't become public"),
  })
  .openapi("Question");

export const QuestionList = listOf(Question)
  .extend({ moderates: z.boolean().describe("Whether the caller may decide on the channel's questions") })
  .openapi("QuestionList");

export const QuestionFilters = {
  state: z
    .enum(QUESTION_STATES)
    .optional()
    .describe("Only questions in this state. By default, moderators get all, everyone else what is approved or answered"),
};

export const QUESTION_LIST_SORTS = QUESTION_SORTS;

export const QuestionBroadcastInput = z
  .strictObject({
    duration: Duration.default(15),
    position: z.enum(POSITIONS).default("bottomLeft"),
    kind: z
      .enum(["html", "kit"])
      .default("html")
      .describe(
        "The kind of its element: `kit` is the overlay kit's template, which follows the page's theme; viewers need a Web SDK that has the kit",
      ),
  })
  .openapi("QuestionBroadcastInput", { example: { duration: 15, position: "bottomLeft" } });

export type QuestionDecision = z.output<typeof QuestionDecision>;
export type QuestionBroadcastInput = z.output<typeof QuestionBroadcastInput>;

/** A question with what a caller may see of it. */
export interface QuestionView extends QuestionRow {
  /** The names of the accounts that asked and answered; null once deleted. */
  name: string | null;
  answeredByName: string | null;
  upvoted: boolean;
  muted: boolean;
}

/** The wire form; `original` and `muted` are for moderators only. */
export function toQuestion(view: QuestionView, moderates: boolean) {
  return {
    _id: view.id,
    channelId: view.channelId,
    accountId: view.accountId,
    name: view.name ?? "",
    text: view.text,
    state: view.state,
    upvotes: view.upvotes,
    upvoted: view.upvoted,
    answer: view.answer,
    answeredBy: view.answeredByName,
    mergedInto: view.mergedInto,
    askedAt: view.created,
    revision: view.revision,
    ...(moderates && { muted: view.muted, ...(view.original !== null && { original: view.original }) }),
  } satisfies z.output<typeof Question>;
}

/** What a question's event contains: no names, which belong to the account. */
export const QuestionEvent = z.object({
  _id: Id,
  siteId: Id,
  channelId: Id,
  accountId: Id,
  text: z.string(),
  state: State,
  upvotes: z.number().int(),
  answer: z.string().nullable(),
  answeredBy: Id.nullable().describe("The account that answered"),
  mergedInto: Id.nullable(),
  created: Time,
  modified: Time,
});

export function toEvent(row: QuestionRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    channelId: row.channelId,
    accountId: row.accountId,
    text: row.text,
    state: row.state,
    upvotes: row.upvotes,
    answer: row.answer,
    answeredBy: row.answeredBy,
    mergedInto: row.mergedInto,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof QuestionEvent>;
}

/** What all viewers of the channel receive; null for a question that isn't public. */
export function toSentQuestion(view: Omit<QuestionView, "upvoted" | "muted">): SentQuestion | null {
  const { state } = view;
  if (!isPublic(state)) return null;
  return {
    _id: view.id,
    channelId: view.channelId,
    accountId: view.accountId,
    name: view.name ?? "",
    text: view.text,
    state,
    upvotes: view.upvotes,
    answer: view.answer,
    answeredBy: view.answeredByName,
    mergedInto: view.mergedInto,
    askedAt: view.created,
    revision: view.revision,
  };
}
