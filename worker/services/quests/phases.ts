import { commit, commitIfUnchanged, type Ctx, nextVersion, updateRow } from "#worker/services/core/context.ts";
import { type QuestRow, quests } from "#db/schema/engagement/quests.ts";
import { conflict } from "#worker/lib/errors.ts";
import { requireChannelAdmin } from "./channel-admins.ts";
import { phaseOf } from "./quest-rules.ts";
import { getQuest, questEvent } from "./quests.ts";
import { scheduleQuest, timesOf } from "./times.ts";

/** Announces that a quest has opened or ended by its own times. Returns why, if its times say otherwise by now. */
export async function announceQuest(ctx: Ctx, id: string, opens: boolean, dueAt: number): Promise<string | null> {
  const quest = await getQuest(ctx, id);
  const times = timesOf(quest);
  if ((opens ? times.opens : times.ends) !== dueAt) return "The quest's time was changed";
  await commit(ctx, [], questEvent(ctx, opens ? "opened" : "ended", quest));
  return null;
}

/** Opens or ends a quest now, by setting its time. Returns why, if there is nothing left to do. */
export async function switchQuest(ctx: Ctx, id: string, opens: boolean): Promise<string | null> {
  const quest = await getQuest(ctx, id);
  await requireChannelAdmin(ctx, quest.channelIds);
  const phase = phaseOf(quest, ctx.now);
  if (opens && phase === "over") throw conflict("The quest has ended");
  if (!opens && phase === "early") throw conflict("The quest hasn't opened yet");
  if (opens && phase === "open") return "The quest was already open";
  if (!opens && phase === "over") return "The quest had already ended";
  const next: QuestRow = { ...quest, ...nextVersion(ctx, quest), ...(opens ? opening(ctx) : ending(ctx, quest)) };
  const changes = [updateRow(ctx, quests, quest, next), ...(await scheduleQuest(ctx, next, quest))];
  await commitIfUnchanged(ctx, changes, questEvent(ctx, opens ? "opened" : "ended", next));
  return null;
}

function opening(ctx: Ctx): Partial<QuestRow> {
  return { timeMinimum: Math.floor(ctx.now / 1000) };
}

/** The last full second before now; a quest that has only just opened keeps its first. */
function ending(ctx: Ctx, { timeMinimum }: QuestRow): Partial<QuestRow> {
  return { timeMaximum: Math.max(Math.ceil(ctx.now / 1000) - 1, timeMinimum ?? 0) };
}
