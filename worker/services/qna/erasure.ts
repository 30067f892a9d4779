import { and, eq, or, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { siteDb } from "#db/databases.ts";
import { questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { questionBoardOf, siteLogOf } from "#worker/durable-objects/stubs.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { syncViewers } from "./viewers.ts";

/**
 * The statement that erases what an account asked and answered, for the batch that deletes the account. The empty rows tell
 * `eraseFromChannels` where to remove them.
 */
export function eraseQuestions(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  const asked = sql`${questions.accountId} = ${accountId}`;
  return ctx.db
    .update(questions)
    .set({
      text: sql`case when ${asked} then '' else ${questions.text} end`,
      original: sql`case when ${asked} then null else ${questions.original} end`,
      state: sql`case when ${asked} then 'dismissed' else ${questions.state} end`,
      answeredBy: sql`case when ${questions.answeredBy} = ${accountId} then null else ${questions.answeredBy} end`,
      revision: sql`${questions.revision} + 1`,
      version: sql`${questions.version} + 1`,
    })
    .where(and(eq(questions.siteId, ctx.siteId), or(eq(questions.accountId, accountId), eq(questions.answeredBy, accountId))));
}

/**
 * Removes a deleted account's questions from screens, the event log and the database, and its upvotes from the counts. Idempotent: rows
 * are deleted last.
 */
export async function eraseFromChannels(env: Env, siteId: string, accountId: string, before: number): Promise<void> {
  const db = siteDb(env, siteId);
  const asked = and(eq(questions.siteId, siteId), eq(questions.accountId, accountId));
  const voted = and(eq(questionUpvotes.siteId, siteId), eq(questionUpvotes.accountId, accountId));
  const [own, counted] = await db.batch([
    db.select().from(questions).where(asked),
    db
      .select({ id: questions.id, channelId: questions.channelId })
      .from(questions)
      .innerJoin(questionUpvotes, eq(questionUpvotes.questionId, questions.id))
      .where(voted),
  ]);
  const log = siteLogOf(env, siteId);
  for (const question of own) {
    await syncViewers(env, siteId, question);
    await log.erase(`question/${question.id}`, before);
    await log.erase(`overlay/${question.id}`, before);
  }
  await db.batch([
    db
      .update(questions)
      .set({ upvotes: sql`${questions.upvotes} - 1`, revision: sql`${questions.revision} + 1` })
      .where(
        and(
          sql`+${questions.siteId} = ${siteId}`,
          sql`${questions.id} in (select question_id from question_upvotes u where u.site_id = ${siteId} and u.account_id = ${accountId})`,
        ),
      ),
    db
      .delete(questionUpvotes)
      .where(or(voted, sql`question_id in (select id from questions q where q.site_id = ${siteId} and q.account_id = ${accountId})`)),
    db.delete(questions).where(asked),
  ]);
  for (const [channelId, changed] of Map.groupBy(counted, (question) => question.channelId))
    await questionBoardOf(env, siteId, channelId).changed(changed.map(({ id }) => id));
}

/** The statements that delete a channel's questions, for the batch that deletes the channel. */
export function deleteQuestionsOfChannel(ctx: Ctx, channelId: string): BatchItem<"sqlite">[] {
  const ofChannel = and(eq(questions.siteId, ctx.siteId), eq(questions.channelId, channelId));
  return [
    ctx.db
      .delete(questionUpvotes)
      .where(sql`question_id in (select id from questions q where q.site_id = ${ctx.siteId} and q.channel_id = ${channelId})`),
    ctx.db.delete(questions).where(ofChannel),
  ];
}
