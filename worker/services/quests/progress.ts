import { and, eq } from "drizzle-orm";
import { questReports, type QuestRow, quests } from "#db/schema/index.ts";
import { conflict, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { countsAt, type Happened, KIND_RULES, progressOf, type Reported, takesValue } from "./quest-rules.ts";
import type { QuestProgress } from "./schemas.ts";
import { activityOf } from "#worker/services/realtime/activity.ts";
import { commit, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { answeredPolls } from "#worker/services/polls/polls.ts";

/** How far the caller is with a quest. */
export async function getProgress(ctx: Ctx, questId: string): Promise<QuestProgress> {
  const accountId = claimedAccount(ctx);
  const { quest, reports } = await readQuest(ctx, questId, accountId);
  return progressWith(ctx, quest, accountId, reports);
}

/**
 * Notes what the caller's client says was done, where the server can't see it; what it can see counts by itself. The same value counts
 * once, of what is counted each without a value, and beyond what is asked for nothing is kept. 409 outside the action's time.
 */
export async function reportAction(ctx: Ctx, questId: string, arrayId: string, value?: string): Promise<QuestProgress> {
  const accountId = claimedAccount(ctx);
  const { quest, reports } = await readQuest(ctx, questId, accountId);
  const action = quest.actions.find((one) => one.arrayId === arrayId);
  if (!action) throw notFound("The quest has no such action");
  const progress = (more: Reported[]) => progressWith(ctx, quest, accountId, [...reports, ...more]);
  if (KIND_RULES[action.kind].source !== "report") return progress([]);
  if (!takesValue(action, value ?? "")) throw invalid("value", "Is not what the action asks for");
  if (!countsAt(quest, action, ctx.now)) throw conflict("The action doesn't count at this time");
  const before = await progress([]);
  if (before.actions.some((one) => one.arrayId === arrayId && one.done)) return before;
  // Where they are counted, each one that names nothing counts for itself.
  const unnamed = KIND_RULES[action.kind].counts ? newId(ctx.now) : "";
  const report = { arrayId, value: value ?? unnamed, created: ctx.now };
  const row = { siteId: ctx.siteId, questId, accountId, ...report };
  await commit(ctx, ctx.db.insert(questReports).values(row).onConflictDoNothing());
  return progress([report]);
}

/** How far an account is, given its reports: what else it follows from is read where an action of the quest needs it. */
export async function progressWith(ctx: Ctx, quest: QuestRow, accountId: string, reports: Reported[]): Promise<QuestProgress> {
  const sources = new Set(quest.actions.map(({ kind }) => KIND_RULES[kind].source));
  const [answers, activity] = await Promise.all([
    sources.has("answers") ? answeredPolls(ctx, accountId) : [],
    sources.has("activity") ? activityOf(ctx, accountId) : [],
  ]);
  const happened: Happened = { answers, activity, reports };
  return { questId: quest.id, accountId, ...progressOf(quest, happened) };
}

/** The reports of an account, for a batch. */
export function selectReports(ctx: Ctx, questId: string, accountId: string) {
  const { arrayId, value, created } = questReports;
  return ctx.db
    .select({ arrayId, value, created })
    .from(questReports)
    .where(and(eq(questReports.siteId, ctx.siteId), eq(questReports.questId, questId), eq(questReports.accountId, accountId)));
}

/** Whose token it is: for reads that ride along with its check, after which it is confirmed. */
export function claimedAccount(ctx: Ctx): string {
  return ctx.claimedAccountId ?? "";
}

async function readQuest(ctx: Ctx, questId: string, accountId: string): Promise<{ quest: QuestRow; reports: Reported[] }> {
  const [[quest], reports] = await ctx.db.batch([
    ctx.db
      .select()
      .from(quests)
      .where(ownRow(ctx, quests, questId)),
    selectReports(ctx, questId, accountId),
  ]);
  if (!quest) throw notFound("Quest not found");
  return { quest, reports };
}
