import type { BatchItem } from "drizzle-orm/batch";
import type { QuestRow } from "#db/schema/engagement/quests.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { scheduleTimes } from "#worker/services/schedule/derived.ts";
import type { Window } from "./quest-rules.ts";

/** The statements that schedule the announcements of a quest's opening and end where they differ from the previous ones. */
export function scheduleQuest(ctx: Ctx, quest: QuestRow, previous: QuestRow | null): Promise<BatchItem<"sqlite">[]> {
  const channelId = quest.channelIds.length === 1 ? (quest.channelIds[0] ?? null) : null;
  const target = { source: "quest", targetId: quest.id, name: quest.title, channelId } as const;
  return scheduleTimes(ctx, target, announcementsOf(quest), previous && announcementsOf(previous));
}

function announcementsOf(quest: QuestRow) {
  const { opens, ends } = timesOf(quest);
  return [
    { kind: "quest.open" as const, dueAt: opens },
    { kind: "quest.close" as const, dueAt: ends },
  ];
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
