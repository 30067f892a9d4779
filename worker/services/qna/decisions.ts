import { and, eq, ne, sql } from "drizzle-orm";
import { type QuestionRow, questions, questionUpvotes } from "#db/schema/engagement/questions.ts";
import { orUnavailable } from "#worker/durable-objects/stubs.ts";
import { conflict, invalid } from "#worker/lib/errors.ts";
import { commitIfUnchanged, type Ctx, nextVersion, nudgeAgain, ownRow, requireMatch, whereVersion } from "#worker/services/core/context.ts";
import { findMergeTarget, findModerated, findQuestion, notAllowed } from "./question-rows.ts";
import { decide, isListed, isPublic } from "./question-state.ts";
import { type QuestionDecision, type QuestionView, toEvent } from "./schemas.ts";
import { syncViewers } from "./viewers.ts";

const LATE = "The decision was saved, but the channel did not respond; viewers see it as soon as the channel is available";
const IS_MUTED = "The account is muted, so that only moderators see its questions; lift the mute first";

/** Applies a moderator's decision. Repeating one changes nothing. */
export async function decideQuestion(ctx: Ctx, id: string, input: QuestionDecision): Promise<QuestionView> {
  const current = await findModerated(ctx, id);
  requireMatch(ctx, current);
  const target = input.mergedInto ? await requireTarget(ctx, current, input.mergedInto) : null;
  const outcome = { state: input.state, answer: input.answer ?? null, mergedInto: target };
  const verdict = decide(current, outcome);
  if (verdict === "unchanged") return nudgeAgain(ctx, current);
  if (verdict === "not allowed") throw notAllowed(current.state, input.state);
  if (current.muted && isPublic(input.state)) throw conflict(IS_MUTED);
  const actor = await ctx.caller();
  const answeredBy = input.state === "answered" && actor.kind === "account" ? actor.id : null;
  const next: QuestionRow = { ...rowOf(current), ...outcome, answeredBy, ...nextVersion(ctx, current) };
  const change = ctx.db
    .update(questions)
    .set({ ...outcome, answeredBy, ...nextVersion(ctx, current), revision: sql`${questions.revision} + 1` })
    .where(and(whereVersion(ctx, questions, current), target === null ? undefined : isOpenTarget(ctx, target)));
  const eventIds = await commitIfUnchanged(ctx, [change, ...(target === null ? [] : uniteVoters(ctx, id, target))], {
    type: `question.${input.state}`,
    resource: `question/${id}`,
    data: toEvent(next),
  });
  await orUnavailable(syncViewers(ctx.env, ctx.siteId, next), LATE);
  ctx.emitted.completedEventIds.push(...eventIds);
  return findQuestion(ctx, id);
}

/** The question that this one is merged into, which may itself have been merged into another. */
async function requireTarget(ctx: Ctx, current: QuestionRow, mergedInto: string): Promise<string> {
  if (mergedInto === current.id) throw invalid("mergedInto", "A question can't be merged into itself");
  const target = await findMergeTarget(ctx, current.channelId, mergedInto);
  if (!target) throw invalid("mergedInto", "The channel has no question with this id");
  if (target.id === current.id) throw conflict("That question has already been merged into this one");
  // A repeated merge is still valid after the target was dismissed.
  if (!isListed(target.state) && current.mergedInto !== target.id)
    throw conflict(`The other question is ${target.state}; approve it first`);
  return target.id;
}

/** The target's state at the moment of the merge: it may be merged or dismissed at the same time. */
function isOpenTarget(ctx: Ctx, target: string) {
  // Plain SQL with an alias, because the inner columns would otherwise resolve to the row that is updated.
  return sql`exists (select 1 from questions target where target.site_id = ${ctx.siteId} and target.id = ${target} and target.state in ('approved', 'answered'))`;
}

/** Everyone who voted for either question counts once for the target; what was merged into this one follows it. */
function uniteVoters(ctx: Ctx, id: string, target: string) {
  const copy = ctx.db
    .insert(questionUpvotes)
    .select(
      sql`select site_id, ${target}, account_id, created from ${questionUpvotes} where ${and(eq(questionUpvotes.siteId, ctx.siteId), eq(questionUpvotes.questionId, id))}`,
    )
    .onConflictDoNothing();
  const count = ctx.db
    .update(questions)
    .set({
      upvotes: sql`(select count(*) from question_upvotes u where u.question_id = ${target})`,
      revision: sql`${questions.revision} + 1`,
    })
    .where(ownRow(ctx, questions, target));
  const follow = ctx.db
    .update(questions)
    .set({ mergedInto: target, revision: sql`${questions.revision} + 1` })
    .where(and(eq(questions.siteId, ctx.siteId), eq(questions.mergedInto, id), ne(questions.id, target)));
  return [copy, count, follow];
}

/** The columns of the table alone. */
function rowOf({ name: _name, answeredByName: _by, upvoted: _upvoted, muted: _muted, ...row }: QuestionView): QuestionRow {
  return row;
}
