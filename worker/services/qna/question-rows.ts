import { and, eq, getTableColumns, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { chatBans } from "#db/schema/engagement/chat.ts";
import { type QuestionRow, questions } from "#db/schema/engagement/questions.ts";
import { conflict, Failure, forbidden, notFound } from "#worker/lib/errors.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { ownRow } from "#worker/services/core/context.ts";
import { mayModerate, requireQuestionModerator } from "#worker/services/core/moderators.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import type { QuestionView } from "./schemas.ts";

// Plain SQL, because drizzle omits the table name in single-table selects, and the columns would resolve to the inner table.
const nameOf = (column: string) =>
  sql<string | null>`(select a.name from accounts a where a.id = ${sql.raw(`questions.${column}`)} and a.site_id = questions.site_id)`;
const isTrue = (value: number) => value === 1;

/** The columns of a question that don't depend on the caller. */
export const publicColumns = {
  ...getTableColumns(questions),
  name: nameOf("account_id").as("name"),
  answeredByName: nameOf("answered_by").as("answered_by_name"),
};

/** Selects questions as an account sees them. */
export function selectViews(db: Db, accountId: string, now: number) {
  return db
    .select({
      ...publicColumns,
      upvoted: sql`exists (select 1 from question_upvotes u where u.question_id = questions.id and u.account_id = ${accountId})`
        .mapWith(isTrue)
        .as("upvoted"),
      muted:
        sql`exists (select 1 from chat_bans b where b.site_id = questions.site_id and b.account_id = questions.account_id and b.kind = 'mute'
        and b.channel_id in ('', questions.channel_id) and (b.until is null or b.until > ${now}))`
          .mapWith(isTrue)
          .as("muted"),
    })
    .from(questions)
    .$dynamic();
}

/** The caller of an operation on a channel's questions, who has access to the channel or moderates it. */
export function requireReader(ctx: Ctx, channelId: string): Promise<Actor> {
  return requireChannelAccess(ctx, channelId, (actor) => mayModerate(actor, "Question_Answer_Moderator", channelId, "read"));
}

/** The account that asks or votes, which has access to the channel and isn't banned from its chat. */
export async function requireParticipant(ctx: Ctx, channelId: string): Promise<Extract<Actor, { kind: "account" }>> {
  const actor = await requireReader(ctx, channelId);
  if (actor.kind !== "account") throw forbidden("Only accounts of the site may do this");
  const { siteId, accountId, kind, channelId: where, until } = chatBans;
  const [ban] = await ctx.db
    .select({ id: chatBans.id })
    .from(chatBans)
    .where(
      and(
        eq(siteId, ctx.siteId),
        eq(accountId, actor.id),
        eq(kind, "ban"),
        inArray(where, ["", channelId]),
        or(isNull(until), gt(until, ctx.now)),
      ),
    )
    .limit(1);
  if (ban) throw new Failure("chat_banned", "This account is banned from the channel's chat and questions");
  return actor;
}

/** A question of the site, as the caller sees it. */
export async function findQuestion(ctx: Ctx, id: string): Promise<QuestionView> {
  const [view] = await selectViews(ctx.db, ctx.claimedAccountId ?? "", ctx.now).where(ownRow(ctx, questions, id));
  if (!view) throw notFound("Question not found");
  return view;
}

/** A question that the caller may decide on. */
export async function findModerated(ctx: Ctx, id: string): Promise<QuestionView> {
  const view = await findQuestion(ctx, id);
  await requireQuestionModerator(ctx, view.channelId);
  return view;
}

/** A question that others can be merged into, or that can be shown on screen; a merged one leads to its target. */
export async function findMergeTarget(ctx: Ctx, channelId: string, id: string): Promise<QuestionRow | undefined> {
  const [found] = await ctx.db
    .select()
    .from(questions)
    .where(and(ownRow(ctx, questions, id), eq(questions.channelId, channelId)));
  if (!found?.mergedInto) return found;
  const [target] = await ctx.db
    .select()
    .from(questions)
    .where(ownRow(ctx, questions, found.mergedInto));
  return target;
}

export function notAllowed(from: string, to: string): Failure {
  return conflict(`A question that is ${from} can't become ${to}`);
}
