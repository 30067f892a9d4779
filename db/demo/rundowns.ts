import type { rundowns } from "#db/schema/rundowns.ts";
import type { RundownItem } from "#db/types.ts";
import { CHANNEL_1, CHANNEL_B, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { GOAL_TEMPLATE, RIVAL_TEMPLATE, SCORE_TEMPLATE } from "./overlays.ts";
import { DERBY_RESULT } from "./polls.ts";

/** The show of the derby, which nobody has started yet. */
export const DERBY_RUNDOWN = "5eed00000000000000007901";

type Step<Item = RundownItem> = Item extends RundownItem ? Omit<Item, "_id" | "at" | "notes"> & { notes?: string } : never;

export function demoRundowns(): (typeof rundowns.$inferInsert)[] {
  const derby: Step[] = [
    { kind: "note", name: "Kick-off", notes: "Take it at the whistle: the log then has the exact moment." },
    { kind: "broadcast", name: "Score, 0:0", overlayId: SCORE_TEMPLATE, broadcast: { priority: 0, variables: { home: 0, away: 0 } } },
    {
      kind: "broadcast",
      name: "Goal, home",
      overlayId: GOAL_TEMPLATE,
      broadcast: { priority: 10, duration: 8, variables: { scorer: "Ada Moreno", minute: 17 } },
      notes: "Wait for the referee. Overwrite scorer and minute when you take it.",
    },
    { kind: "wait", name: "Let it breathe", seconds: 10 },
    { kind: "broadcast", name: "Score, 1:0", overlayId: SCORE_TEMPLATE, broadcast: { priority: 0, variables: { home: 1, away: 0 } } },
    { kind: "poll", name: "Lock the prediction", pollId: DERBY_RESULT, action: "close", correctAnswerId: null },
    {
      kind: "poll",
      name: "Settle: Harbour City wins",
      pollId: DERBY_RESULT,
      action: "settle",
      correctAnswerId: "5eed00000000000000600101",
    },
  ];
  const rival: Step[] = [{ kind: "broadcast", name: "Goal", overlayId: RIVAL_TEMPLATE, broadcast: { priority: 0 } }];
  return [
    rundown(DERBY_RUNDOWN, { siteId: SITE_A, channelId: CHANNEL_1, name: "Derby, first half", editor: "5eed0000000000000000a001" }, derby),
    rundown(
      "5eed00000000000000007911",
      { siteId: SITE_B, channelId: CHANNEL_B, name: "Derby, away", editor: "5eed0000000000000000a101" },
      rival,
    ),
  ];
}

interface Show {
  siteId: string;
  channelId: string;
  name: string;
  /** An account. */
  editor: string;
}

function rundown(id: string, { siteId, channelId, name, editor }: Show, steps: Step[]): typeof rundowns.$inferInsert {
  const items = steps.map((step, index): RundownItem => {
    const number = String(index + 1).padStart(2, "0");
    return { ...step, _id: `${id.slice(0, -2).replace("79", "7a")}${number}`, notes: step.notes ?? "", at: null };
  });
  return {
    ...stamps,
    id,
    siteId,
    channelId,
    name,
    items,
    generation: 0,
    lastItemId: null,
    armedItemId: null,
    held: false,
    timedAt: null,
    followAt: null,
    followFrom: null,
    editedBy: { kind: "account", id: editor },
  };
}
