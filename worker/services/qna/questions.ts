import { and, eq, inArray, or, sql } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import { pages } from "#db/schema/pages.ts";
import { questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { commitIfUnchanged, type Ctx, newRow } from "#worker/services/core/context.ts";
import { mayModerate } from "#worker/services/core/moderators.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { findQuestion, requireParticipant, requireReader, selectViews } from "./question-rows.ts";
import { maskQuestion, readTextRules } from "./question-text.ts";
import type { QuestionState } from "./question-state.ts";
import { type QuestionView, toEvent } from "./schemas.ts";

type QuestionQuery = ListQuery & { state?: QuestionState | undefined };

/** The list as an account sees it. */
function questionList(accountId: string, now: number): ListSpec<QuestionView> {
  return {
    table: questions,
    id: { by: questions.id, of: (row) => row.id },
    rows: (db, slice) => sliceOf(selectViews(db, accountId, now), slice),
    sort: {
      upvotes: { by: questions.upvotes, of: (row) => row.upvotes },
      created: { by: questions.created, of: (row) => row.created },
    },
    defaultDirection: -1,
    search: { text: questions.text },
  };
}

/** Lists a channel's questions: all of them for its moderators, else the public ones and the caller's own. */
export async function listQuestions(
  ctx: Ctx,
  channelId: string,
  query: QuestionQuery,
): Promise<{ page: ListPage<QuestionView>; moderates: boolean; mayDecide: boolean }> {
  const actor = await requireReader(ctx, channelId);
  const moderates = mayModerate(actor, "Question_Answer_Moderator", channelId, "read");
  const accountId = actor.kind === "account" ? actor.id : "";
  const shown: QuestionState[] = query.state === "merged" ? ["merged"] : ["approved", "answered"];
  const page = await listRows(
    ctx,
    questionList(accountId, ctx.now),
    query,
    eq(questions.siteId, ctx.siteId),
    eq(questions.channelId, channelId),
    query.state && eq(questions.state, query.state),
    moderates ? undefined : or(inArray(questions.state, shown), eq(questions.accountId, accountId)),
  );
  return { page, moderates, mayDecide: mayModerate(actor, "Question_Answer_Moderator", channelId, "write") };
}

/** Submits a question, which counts as its first upvote. Only moderators and the account itself see it until it is approved. */
export async function askQuestion(ctx: Ctx, channelId: string, input: { text: string }): Promise<QuestionView> {
  const account = await requireParticipant(ctx, channelId);
  const isModerator = mayModerate(account, "Question_Answer_Moderator", channelId, "write");
  const { text, original } = maskQuestion(input.text, await readTextRules(ctx, channelId), isModerator);
  const row = {
    ...newRow(ctx),
    channelId,
    accountId: account.id,
    text,
    original,
    state: "submitted" as const,
    upvotes: 1,
    answer: null,
    answeredBy: null,
    mergedInto: null,
    revision: 1,
  };
  const upvote = { siteId: ctx.siteId, questionId: row.id, accountId: account.id, created: ctx.now };
  await commitIfUnchanged(ctx, [insertIfPossible(ctx, row), ctx.db.insert(questionUpvotes).values(upvote)], {
    type: "question.submitted",
    resource: `question/${row.id}`,
    data: toEvent(row),
  });
  return findQuestion(ctx, row.id);
}

/** Inserts a question unless its channel or account has been deleted in the meantime. Columns are in table order. */
function insertIfPossible(ctx: Ctx, row: typeof questions.$inferSelect) {
  return ctx.db.insert(questions).select(
    sql`select ${row.id}, ${row.siteId}, ${row.channelId}, ${row.accountId}, ${row.text}, ${row.original}, ${row.state}, ${row.upvotes}, null, null, null, ${row.revision}, ${row.created}, ${row.modified}, ${row.version}
      where exists (select 1 from ${pages} where ${and(eq(pages.siteId, row.siteId), eq(pages.id, row.channelId))})
        and exists (select 1 from ${accounts} where ${and(eq(accounts.siteId, row.siteId), eq(accounts.id, row.accountId))})`,
  );
}
