import { eq } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { questionUpvotes } from "#db/schema/engagement/questions.ts";
import { randomHex } from "#worker/lib/ids.ts";
import type { QuestionState } from "#worker/services/qna/question-state.ts";
import { Question, type QuestionDecision } from "#worker/services/qna/schemas.ts";
import { z } from "@hono/zod-openapi";
import type { Caller, TestAccount, TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

type AskedQuestion = z.output<typeof Question>;
export const QuestionPage = z.looseObject({
  results: z.array(Question),
  moderates: z.boolean(),
  pagination: z.looseObject({ totalCount: z.number(), next: z.string().nullable() }),
});

const db = createDb(siteStore);

/** What tests do with questions, on the site that `site` returns by then. */
export function questionsOf(site: () => TestSite) {
  /** A viewer of the site's own, with the headers of its session. */
  async function newFan(at = site()): Promise<TestAccount & { headers: Record<string, string> }> {
    const account = await at.addAccount(`fan-${randomHex(6)}`, []);
    return { ...account, headers: { "Tifo-Client-Id": at.id, Authorization: `Bearer ${await at.signIn(account)}` } };
  }
  const ask = (text: string, headers: Record<string, string>, channelId = site().channels[0]) =>
    site().call("askQuestion", { as: "viewer", params: { channelId }, body: { text }, headers });
  const decide = (
    id: string,
    body: QuestionDecision | Record<string, unknown>,
    as: Caller = "developer",
    headers: Record<string, string> = {},
  ) => site().call("decideQuestion", { as, params: { id }, body, headers });
  /** A question by an account of its own, in this state. */
  async function newQuestion(
    state: QuestionState = "submitted",
    text = "Will Moreno start?",
    channelId = site().channels[0],
  ): Promise<AskedQuestion> {
    const asked = (await ask(text, (await newFan()).headers, channelId)).as(Question);
    if (state === "submitted") return asked;
    if (state === "merged") {
      const target = await newQuestion("approved", "Who starts?", channelId);
      return (await decide(asked._id, { state, mergedInto: target._id })).as(Question);
    }
    return (await decide(asked._id, { state })).as(Question);
  }
  const vote = (id: string, headers: Record<string, string>) => site().call("upvoteQuestion", { as: "viewer", params: { id }, headers });
  const unvote = (id: string, headers: Record<string, string>) =>
    site().call("removeQuestionUpvote", { as: "viewer", params: { id }, headers });
  async function list(query: Record<string, string | number> = {}, as: Caller = "developer", headers = {}, channelId = site().channels[0]) {
    return (await site().call("listQuestions", { as, params: { channelId }, query, headers })).as(QuestionPage);
  }
  async function find(id: string, as: Caller = "developer", headers = {}): Promise<AskedQuestion | undefined> {
    return (await list({ limit: 200 }, as, headers)).results.find((question) => question._id === id);
  }
  return { newFan, ask, decide, newQuestion, vote, unvote, list, find };
}

/** The accounts that have upvoted a question. */
export async function votersOf(questionId: string): Promise<string[]> {
  const rows = await db.select({ id: questionUpvotes.accountId }).from(questionUpvotes).where(eq(questionUpvotes.questionId, questionId));
  return rows.map(({ id }) => id).sort();
}
