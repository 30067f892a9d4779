import type { BatchItem } from "drizzle-orm/batch";
import type { QuestRow } from "#db/schema/engagement/quests.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { scheduleTimes } from "#worker/services/schedule/derived.ts";
import type { Window } from "./quest-rules.ts";

/** The statements that schedule the announcements of a quest's opening and end, in place of earlier ones. */
export function scheduleQuest(ctx: Ctx, quest: QuestRow): BatchItem<"sqlite">[] {
  const channelId = quest.channelIds.length === 1 ? (quest.channelIds[0] ?? null) : null;
  const { opens, ends } = timesOf(quest);
  return scheduleTimes(ctx, { source: "quest", targetId: quest.id, name: quest.title, channelId }, [
    { kind: "quest.open", dueAt: opens },
    { kind: "quest.close", dueAt: ends },
  ]);
}

/** A quest's next opening or end after `now` (ms), if there is one. */
export function nextTimeOf(quest: Window, now: number): number | null {
  const { opens, ends } = timesOf(quest);
  const next = Math.min(...[opens, ends].filter((time) => time !== null && time > now).map(Number));
  return next === Infinity ? null : next;
}

/** When a quest opens and when it has ended (ms): the instant of timeMaximum still counts. */
export function timesOf({ timeMinimum, timeMaximum }: Window): { opens: number | null; ends: number | null } {
  return { opens: timeMinimum === null ? null : timeMinimum * 1000, ends: timeMaximum === null ? null : timeMaximum * 1000 + 1 };
}
