import { and, eq } from "drizzle-orm";
import { questReports, type QuestRow, quests } from "#db/schema/engagement/quests.ts";
import { conflict, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { countsAt, type AccountHistory, KIND_RULES, progressOf, type ReportedAction, acceptsValue } from "./quest-rules.ts";
import type { QuestProgress } from "./schemas.ts";
import { activityOf } from "#worker/services/realtime/activity.ts";
import { commit, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { answeredPolls } from "#worker/services/polls/polls.ts";

/** Returns the caller's progress in a quest. */
export async function getProgress(ctx: Ctx, questId: string): Promise<QuestProgress> {
  const accountId = claimedAccount(ctx);
  const { quest, reports } = await readQuest(ctx, questId, accountId);
  return progressWith(ctx, quest, accountId, reports);
}

/**
 * Records an action that the caller's client reports because the server can't observe it; others are ignored. The same value counts
 * once; for counted kinds, each report without a value counts. Nothing is stored once the action is done. 409 outside its time window.
 */
export async function reportAction(ctx: Ctx, questId: string, arrayId: string, value?: string): Promise<QuestProgress> {
  const accountId = claimedAccount(ctx);
  const { quest, reports } = await readQuest(ctx, questId, accountId);
  const action = quest.actions.find((one) => one.arrayId === arrayId);
  if (!action) throw notFound("The quest has no action with this arrayId");
  const progress = (more: ReportedAction[]) => progressWith(ctx, quest, accountId, [...reports, ...more]);
  if (KIND_RULES[action.kind].source !== "report") return progress([]);
  if (!acceptsValue(action, value ?? "")) throw invalid("value", "Must match the action's validationValue");
  if (!countsAt(quest, action, ctx.now)) throw conflict("The action is outside its time window");
  const before = await progress([]);
  if (before.actions.some((one) => one.arrayId === arrayId && one.done)) return before;
  // For counted kinds, each report without a value counts separately.
  const defaultValue = KIND_RULES[action.kind].counts ? newId(ctx.now) : "";
  const report = { arrayId, value: value ?? defaultValue, created: ctx.now };
  const row = { siteId: ctx.siteId, questId, accountId, ...report };
  await commit(ctx, ctx.db.insert(questReports).values(row).onConflictDoNothing());
  return progress([report]);
}

/** An account's progress, given its reports; responses and activity are read only if an action of the quest needs them. */
export async function progressWith(ctx: Ctx, quest: QuestRow, accountId: string, reports: ReportedAction[]): Promise<QuestProgress> {
  return progressIn(quest, accountId, { ...(await observedOf(ctx, [quest], accountId)), reports });
}

export function progressIn(quest: QuestRow, accountId: string, history: AccountHistory): QuestProgress {
  return { questId: quest.id, accountId, ...progressOf(quest, history) };
}

/** What the server has observed of an account, as far as actions of these quests need it. */
export async function observedOf(ctx: Ctx, of: QuestRow[], accountId: string): Promise<Omit<AccountHistory, "reports">> {
  const sources = new Set(of.flatMap(({ actions }) => actions.map(({ kind }) => KIND_RULES[kind].source)));
  const [answers, activity] = await Promise.all([
    sources.has("answers") ? answeredPolls(ctx, accountId) : [],
    sources.has("activity") ? activityOf(ctx, accountId) : [],
  ]);
  return { answers, activity };
}

/** Selects an account's reports to these quests, for use in a batch. */
export function selectReports(ctx: Ctx, questIds: string[], accountId: string) {
  const { questId, arrayId, value, created } = questReports;
  return ctx.db
    .select({ questId, arrayId, value, created })
    .from(questReports)
    .where(and(eq(questReports.siteId, ctx.siteId), idIn(questId, questIds), eq(questReports.accountId, accountId)));
}

/** The account that the token claims, for reads in the same batch that verifies the token. */
export function claimedAccount(ctx: Ctx): string {
  return ctx.claimedAccountId ?? "";
}

async function readQuest(ctx: Ctx, questId: string, accountId: string): Promise<{ quest: QuestRow; reports: ReportedAction[] }> {
  const [[quest], reports] = await ctx.db.batch([
    ctx.db
      .select()
      .from(quests)
      .where(ownRow(ctx, quests, questId)),
    selectReports(ctx, [questId], accountId),
  ]);
  if (!quest) throw notFound("Quest not found");
  return { quest, reports };
}
