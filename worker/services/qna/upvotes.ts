import { and, eq, sql } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import { questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { orUnavailable, questionBoardOf } from "#worker/durable-objects/stubs.ts";
import { conflict } from "#worker/lib/errors.ts";
import { commit, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { findQuestion, requireParticipant } from "./question-rows.ts";
import type { QuestionView } from "./schemas.ts";

const LATE = "The vote was counted, but the channel did not respond; send it again to update the viewers";

// changes() is the row count of the previous statement, so the count follows the rows exactly, however many votes arrive at once.
const changed = sql<number>`changes()`;

/** Counts the caller's upvote once, however often it is sent; the question must be approved. */
export async function upvote(ctx: Ctx, id: string): Promise<QuestionView> {
  const { channelId, accountId } = await requireVoter(ctx, id);
  // Both conditions are checked as it is written: the question may be merged and the account deleted at the same time.
  const isOpen = sql`exists (select 1 from ${questions} where ${and(ownRow(ctx, questions, id), eq(questions.state, "approved"))})`;
  const exists = sql`exists (select 1 from ${accounts} where ${ownRow(ctx, accounts, accountId)})`;
  const insert = ctx.db
    .insert(questionUpvotes)
    .select(sql`select ${ctx.siteId}, ${id}, ${accountId}, ${ctx.now} where ${isOpen} and ${exists}`)
    .onConflictDoNothing();
  return writeVote(ctx, { id, channelId }, insert, sql`${questions.upvotes} + ${changed}`);
}

/** Takes the caller's upvote back. */
export async function removeUpvote(ctx: Ctx, id: string): Promise<QuestionView> {
  const { channelId, accountId } = await requireVoter(ctx, id);
  const isOpen = sql`exists (select 1 from ${questions} where ${and(ownRow(ctx, questions, id), eq(questions.state, "approved"))})`;
  const remove = ctx.db
    .delete(questionUpvotes)
    .where(and(eq(questionUpvotes.questionId, id), eq(questionUpvotes.accountId, accountId), isOpen));
  return writeVote(ctx, { id, channelId }, remove, sql`${questions.upvotes} - ${changed}`);
}

async function requireVoter(ctx: Ctx, id: string): Promise<{ channelId: string; accountId: string }> {
  const { channelId } = await findQuestion(ctx, id);
  const { id: accountId } = await requireParticipant(ctx, channelId);
  return { channelId, accountId };
}

async function writeVote(
  ctx: Ctx,
  { id, channelId }: { id: string; channelId: string },
  vote: Parameters<typeof commit>[1] & object,
  upvotes: ReturnType<typeof sql>,
): Promise<QuestionView> {
  const count = ctx.db
    .update(questions)
    .set({ upvotes, revision: sql`${questions.revision} + 1` })
    .where(and(ownRow(ctx, questions, id), sql`changes() > 0`));
  await commit(ctx, [vote, count].flat());
  const after = await findQuestion(ctx, id);
  if (after.state !== "approved") throw conflict(`Only approved questions can be upvoted; this one is ${after.state}`);
  await orUnavailable(questionBoardOf(ctx.env, ctx.siteId, channelId).changed([id]), LATE);
  return after;
}
