import { describe, expect, test } from "vitest";
import { accessOf } from "#studio/session/access.ts";
import { awayText, canCancel, type ScheduledAction, screenOf, sourceText, stateOf } from "./action.ts";

const NOW = 1_795_200_000_000;
const ME = "5eed0000000000000000e001";
const CHANNEL = "5eed0000000000000000c001";

function newAction(change: Partial<ScheduledAction> = {}): ScheduledAction {
  const stamps = { created: NOW, modified: NOW, endedAt: null, message: null };
  const base = {
    _id: "5eed0000000000000000f001",
    siteId: "5eed00000000000000000001",
    kind: "poll.close",
    targetId: "p1",
    name: "Derby",
  } as const;
  return {
    ...base,
    ...stamps,
    channelId: null,
    broadcast: null,
    dueAt: NOW,
    state: "pending",
    source: "request",
    scheduledBy: null,
    ...change,
  };
}

const roleOn = (pageId: string[], write = true) => accessOf([{ scope: "*", pageId, write }]);

describe("a scheduled action", () => {
  test("can be cancelled by a site admin, by who scheduled it, and by an admin of its channel", () => {
    const onChannel = newAction({ channelId: CHANNEL });
    const mine = newAction({ scheduledBy: { kind: "account", id: ME } });
    expect(canCancel(newAction(), roleOn([]), ME)).toBe(true);
    expect(canCancel(newAction(), roleOn([], false), ME)).toBe(false);
    expect([newAction(), onChannel, mine].map((action) => canCancel(action, roleOn([CHANNEL]), ME))).toEqual([false, true, true]);
    expect(canCancel(onChannel, roleOn(["5eed0000000000000000c002"]), ME)).toBe(false);
  });

  test("that is over, or that follows from a poll or quest, can't be cancelled", () => {
    const actions = [newAction({ state: "done" }), newAction({ source: "poll" }), newAction({ source: "quest" })];
    expect(actions.map((action) => canCancel(action, roleOn([]), ME))).toEqual([false, false, false]);
    expect(actions.map(sourceText)).toEqual(["Scheduled", "Time of the poll", "Time of the quest"]);
  });

  test("links to the screen of what it shows, opens or closes", () => {
    const kinds = ["overlay.broadcast", "poll.open", "quest.close"] as const;
    expect(kinds.map((kind) => screenOf({ kind, targetId: "t" }))).toEqual(["/overlays/t", "/polls/t", "/quests/t"]);
  });
});

test("a time is named by its distance", () => {
  const away = [5_000, -5_000, 5 * 60_000 + 1, -90 * 60_000, 49 * 3_600_000];
  expect(away.map((ms) => awayText(NOW + ms, NOW))).toEqual([
    ...["in less than a minute", "less than a minute ago", "in 5 minutes", "1 hour ago", "in 2 days"],
  ]);
});

test("the list starts with what is to come", () => {
  expect([stateOf(undefined), stateOf("nonsense"), stateOf("missed")]).toEqual(["pending", "pending", "missed"]);
});
