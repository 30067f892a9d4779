import { describe, expect, test } from "vitest";
import type { QuestAction } from "#db/types.ts";
import { countsAt, type AccountHistory, phaseOf, progressOf } from "./quest-rules.ts";
import { KICK_OFF, at, ONE, TWO, STAGE, BACKSTAGE, ALWAYS, HALF, action, answer, seen, watched, report } from "#test/quest-fixtures.ts";

function stateOf(one: QuestAction, history: Partial<AccountHistory>, quest = ALWAYS) {
  const { actions, complete } = progressOf({ ...quest, actions: [one] }, { answers: [], activity: [], reports: [], ...history });
  const { current, required, done } = actions[0] ?? { current: -1, required: -1, done: false };
  expect(complete).toBe(done);
  return [current, required, done];
}

type Row = [what: string, action: QuestAction, history: Partial<AccountHistory>, state: [current: number, required: number, done: boolean]];

const right = { correct: true };
const wrong = { correct: false };

describe("an action", () => {
  test.for<Row>([
    ["polls, any: one each", action("answer:polls:any"), { answers: [answer("poll")] }, [1, 1, true]],
    ["polls, any: no prediction", action("answer:polls:any"), { answers: [answer("prediction"), answer("trivia", TWO)] }, [0, 1, false]],
    [
      "polls, any: as many as required, each once",
      action("answer:polls:any", { valueRequired: 2 }),
      { answers: [answer("poll"), answer("poll")] },
      [1, 2, false],
    ],
    [
      "polls, any: two of two",
      action("answer:polls:any", { valueRequired: 2 }),
      { answers: [answer("poll"), answer("poll", TWO)] },
      [2, 2, true],
    ],
    ["predictions, any: right or wrong", action("answer:predictions:any"), { answers: [answer("prediction", ONE, wrong)] }, [1, 1, true]],
    [
      "predictions, any, correctly: not before they are settled",
      action("answer:predictions:any:correctly"),
      { answers: [answer("prediction")] },
      [0, 1, false],
    ],
    [
      "predictions, any, correctly: right ones",
      action("answer:predictions:any:correctly", { valueRequired: 2 }),
      { answers: [answer("prediction", ONE, right), answer("prediction", TWO, wrong)] },
      [1, 2, false],
    ],
    ["trivia, any", action("answer:trivia:any"), { answers: [answer("trivia")] }, [1, 1, true]],
    ["trivia, any, correctly: wrong", action("answer:trivia:any:correctly"), { answers: [answer("trivia", ONE, wrong)] }, [0, 1, false]],
    ["trivia, any, correctly: right", action("answer:trivia:any:correctly"), { answers: [answer("trivia", ONE, right)] }, [1, 1, true]],
    [
      "polls, specific: another poll",
      action("answer:polls:specific", { validationValue: ONE }),
      { answers: [answer("poll", TWO)] },
      [0, 1, false],
    ],
    ["polls, specific: that poll", action("answer:polls:specific", { validationValue: ONE }), { answers: [answer("poll")] }, [1, 1, true]],
    [
      "polls, specific: any by asterisk",
      action("answer:polls:specific", { validationValue: "*" }),
      { answers: [answer("poll")] },
      [1, 1, true],
    ],
    [
      "polls, specific: once, whatever valueRequired is",
      action("answer:polls:specific", { validationValue: ONE, valueRequired: 5 }),
      { answers: [answer("poll")] },
      [1, 1, true],
    ],
    [
      "predictions, specific: that one",
      action("answer:predictions:specific", { validationValue: ONE }),
      { answers: [answer("prediction", ONE, wrong)] },
      [1, 1, true],
    ],
    [
      "predictions, specific, correctly: another one right",
      action("answer:predictions:specific:correctly", { validationValue: ONE }),
      { answers: [answer("prediction", ONE, wrong), answer("prediction", TWO, right)] },
      [0, 1, false],
    ],
    [
      "predictions, specific, correctly: right",
      action("answer:predictions:specific:correctly", { validationValue: ONE }),
      { answers: [answer("prediction", ONE, right)] },
      [1, 1, true],
    ],
    ["trivia, specific", action("answer:trivia:specific", { validationValue: ONE }), { answers: [answer("trivia")] }, [1, 1, true]],
    [
      "trivia, specific, correctly: wrong",
      action("answer:trivia:specific:correctly", { validationValue: ONE }),
      { answers: [answer("trivia", ONE, wrong)] },
      [0, 1, false],
    ],
    [
      "impossible: whatever happens",
      action("impossible"),
      { answers: [answer("poll")], activity: [watched(90)], reports: [report("")] },
      [0, 1, false],
    ],
    [
      "link: opened",
      action("open:link", { validationValue: "https://a.example" }),
      { reports: [report("https://a.example")] },
      [1, 1, true],
    ],
    [
      "link: another",
      action("open:link", { validationValue: "https://a.example" }),
      { reports: [report("https://b.example")] },
      [0, 1, false],
    ],
    ["link: any by asterisk", action("open:link", { validationValue: "*" }), { reports: [report("https://b.example")] }, [1, 1, true]],
    ["link: of another action", action("open:link"), { reports: [report("https://a.example", { arrayId: "other0000" })] }, [0, 1, false]],
    ["quest viewed", action("quest:view"), { reports: [report("")] }, [1, 1, true]],
    ["retweets: each once", action("retweet", { valueRequired: 2 }), { reports: [report("1"), report("1")] }, [1, 2, false]],
    ["retweets: two of two", action("retweet", { valueRequired: 2 }), { reports: [report("1"), report("2")] }, [2, 2, true]],
    ["shared", action("share:facebook:video"), { reports: [report(ONE)] }, [1, 1, true]],
    ["panel: another", action("view:panel", { validationValue: ONE }), { activity: [seen("panel", TWO)] }, [0, 1, false]],
    ["panel: that one", action("view:panel", { validationValue: ONE }), { activity: [seen("panel", ONE)] }, [1, 1, true]],
    ["panel: no video of that id", action("view:panel", { validationValue: ONE }), { activity: [watched(5)] }, [0, 1, false]],
    [
      "panel: on another channel",
      action("view:panel", { validationValue: ONE, channelId: BACKSTAGE }),
      { activity: [seen("panel", ONE)] },
      [0, 1, false],
    ],
    ["channel: that one", action("visit:channel", { validationValue: STAGE }), { activity: [seen("channel", STAGE)] }, [1, 1, true]],
    ["channel: another", action("visit:channel", { validationValue: BACKSTAGE }), { activity: [seen("channel", STAGE)] }, [0, 1, false]],
    [
      "channel: an action of one channel that requires visiting another",
      action("visit:channel", { validationValue: STAGE, channelId: BACKSTAGE }),
      { activity: [seen("channel", STAGE)] },
      [1, 1, true],
    ],
    [
      "channel: the action's own without a value",
      action("visit:channel", { channelId: BACKSTAGE }),
      { activity: [seen("channel", STAGE)] },
      [0, 1, false],
    ],
    ["channel: watched there", action("visit:channel", { validationValue: STAGE }), { activity: [watched(5)] }, [1, 1, true]],
    [
      "visit through the whole time",
      action("visit:time", HALF),
      { activity: [watched(70, { firstAt: at(-10), lastAt: at(60) })] },
      [1, 1, true],
    ],
    [
      "visit before and after, with nothing to show for the time",
      action("visit:time", HALF),
      { activity: [seen("channel", STAGE, { firstAt: at(-10), lastAt: at(60) })] },
      [0, 1, false],
    ],
    ["visit in time", action("visit:time", HALF), { activity: [seen("channel", STAGE)] }, [1, 1, true]],
    [
      "visit too late",
      action("visit:time", HALF),
      { activity: [seen("channel", STAGE, { firstAt: at(46), lastAt: at(50) })] },
      [0, 1, false],
    ],
    [
      "visit that ends in time",
      action("visit:time", HALF),
      { activity: [seen("channel", STAGE, { firstAt: at(-5), lastAt: at(1) })] },
      [1, 1, true],
    ],
    [
      "visit in time on another channel",
      action("visit:time", { ...HALF, channelId: BACKSTAGE }),
      { activity: [seen("channel", STAGE)] },
      [0, 1, false],
    ],
    ["watching: whole minutes", action("watch:any:video", { valueRequired: 10 }), { activity: [watched(9.99)] }, [9, 10, false]],
    [
      "watching: of several videos together",
      action("watch:any:video", { valueRequired: 10 }),
      { activity: [watched(4.5), watched(5.5, { targetId: TWO, firstAt: at(20), lastAt: at(25.5) })] },
      [10, 10, true],
    ],
    [
      "watching: on several screens at once, no faster than the clock",
      action("watch:any:video", { valueRequired: 10 }),
      {
        activity: [
          watched(6),
          watched(6, { targetId: TWO }),
          watched(6, { channelId: BACKSTAGE }),
          watched(3, { firstAt: at(14), lastAt: at(17) }),
        ],
      },
      [7, 10, false],
    ],
    [
      "watching: on two screens, each for half of the time",
      action("watch:any:video", { valueRequired: 6 }),
      { activity: [watched(3, { lastAt: at(16) }), watched(3, { targetId: TWO, lastAt: at(16) })] },
      [6, 6, true],
    ],
    ["watching: no visit", action("watch:any:video"), { activity: [seen("channel", STAGE, { seconds: 600 })] }, [0, 1, false]],
    ["watching: on another channel", action("watch:any:video", { channelId: BACKSTAGE }), { activity: [watched(10)] }, [0, 1, false]],
    ["watching one video: another", action("watch:specific:video", { validationValue: TWO }), { activity: [watched(10)] }, [0, 1, false]],
    [
      "watching one video: that one",
      action("watch:specific:video", { validationValue: ONE, valueRequired: 10 }),
      { activity: [watched(10), watched(10, { targetId: TWO })] },
      [10, 10, true],
    ],
  ])("counts %s", ([, one, history, state]) => {
    expect(stateOf(one, history)).toEqual(state);
  });

  test("counts only watch time that is certainly within its time window", () => {
    const within = (firstAt: number, lastAt: number, minutes: number) =>
      stateOf(action("watch:any:video", HALF), { activity: [watched(minutes, { firstAt: at(firstAt), lastAt: at(lastAt) })] })[0];
    expect(within(0, 45, 45)).toBe(45);
    expect(within(-10, 10, 20)).toBe(10);
    expect(within(40, 50, 10)).toBe(5);
    expect(within(-10, 10, 5)).toBe(0);
    expect(within(-30, -1, 20)).toBe(0);
    expect(within(46, 90, 40)).toBe(0);
  });

  test("counts up to the inclusive ends of its own and the quest's time windows", () => {
    const done = (seconds: number, own: typeof HALF | typeof ALWAYS, quest: typeof HALF | typeof ALWAYS) => {
      const created = (KICK_OFF + seconds) * 1000;
      return progressOf(
        { ...quest, actions: [action("answer:polls:any", own)] },
        { answers: [answer("poll", ONE, { created })], activity: [], reports: [] },
      ).complete;
    };
    for (const [own, quest] of [
      [HALF, ALWAYS],
      [ALWAYS, HALF],
    ] as const) {
      expect([-1, 0, 2700, 2701].map((seconds) => done(seconds, own, quest))).toEqual([false, true, true, false]);
    }
    const later = { timeMinimum: KICK_OFF + 60, timeMaximum: KICK_OFF + 3600 };
    expect([59, 60, 2700, 2701].map((seconds) => done(seconds, later, HALF))).toEqual([false, true, true, false]);
    const open = { timeMinimum: KICK_OFF, timeMaximum: null };
    expect(countsAt(ALWAYS, open, at(10_000))).toBe(true);
    expect(countsAt(ALWAYS, open, at(0) - 1)).toBe(false);
  });
});

describe("a quest", () => {
  test("is complete with all of its actions, and never without any", () => {
    const nothing: AccountHistory = { answers: [], activity: [], reports: [] };
    expect(progressOf({ ...ALWAYS, actions: [] }, nothing)).toEqual({ complete: false, actions: [] });
    const both = { ...ALWAYS, actions: [action("quest:view"), action("retweet", { arrayId: "b1B2c3D4e" })] };
    expect(progressOf(both, { ...nothing, reports: [report("")] }).complete).toBe(false);
    expect(progressOf(both, { ...nothing, reports: [report(""), report("1", { arrayId: "b1B2c3D4e" })] }).complete).toBe(true);
  });

  test("is open between its inclusive ends", () => {
    expect([at(0) - 1, at(0), at(45), at(45) + 1].map((now) => phaseOf(HALF, now))).toEqual(["early", "open", "open", "over"]);
    expect(phaseOf(ALWAYS, 0)).toBe("open");
  });
});
