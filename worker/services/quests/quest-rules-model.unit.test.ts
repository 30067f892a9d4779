import fc from "fast-check";
import { expect, test } from "vitest";
import { QUEST_KINDS } from "#db/enums.ts";
import type { QuestAction } from "#db/types.ts";
import { type Activity, type AccountHistory, type PollAnswered, progressOf, type ReportedAction } from "./quest-rules.ts";
import { KICK_OFF, at, ONE, TWO, STAGE, BACKSTAGE, ALWAYS, HALF, action, report } from "#test/quest-fixtures.ts";

// A naive reference implementation of the rules, kind by kind and event by event.

type Event =
  | { what: "answer"; type: PollAnswered["pollType"]; id: string; correct: boolean | null; minute: number }
  | { what: "watch" | "channel" | "panel"; id: string; channel: string; minute: number }
  | { what: "report"; value: string; minute: number };

const ids = fc.constantFrom(ONE, TWO);
const channels = fc.constantFrom(STAGE, BACKSTAGE);
const minute = fc.integer({ min: -20, max: 80 });
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    what: fc.constant("answer" as const),
    type: fc.constantFrom("poll" as const, "prediction" as const, "trivia" as const),
    id: ids,
    correct: fc.constantFrom(true, false, null),
    minute,
  }),
  fc.record({ what: fc.constantFrom("watch" as const, "panel" as const), id: ids, channel: channels, minute }),
  channels.chain((id) => fc.record({ what: fc.constant("channel" as const), id: fc.constant(id), channel: fc.constant(id), minute })),
  fc.record({ what: fc.constant("report" as const), value: fc.constantFrom(ONE, TWO, ""), minute }),
);
const anAction = fc
  .record({
    kind: fc.constantFrom(...QUEST_KINDS),
    channelId: fc.option(channels),
    validationValue: fc.constantFrom(null, "*", ONE, TWO, STAGE),
    valueRequired: fc.option(fc.integer({ min: 1, max: 3 })),
    window: fc.constantFrom(
      ALWAYS,
      HALF,
      { timeMinimum: KICK_OFF, timeMaximum: null },
      { timeMinimum: null, timeMaximum: KICK_OFF + 1200 },
    ),
  })
  .map(({ kind, window, ...rest }) => action(kind, { ...rest, ...window }));

/** Converts events, each of one minute, to an account's history. */
function historyOf(events: Event[]): AccountHistory {
  const answers: PollAnswered[] = [];
  const activity: Activity[] = [];
  const reports: ReportedAction[] = [];
  for (const one of events) {
    if (one.what === "answer") answers.push({ pollId: one.id, pollType: one.type, correct: one.correct, created: at(one.minute) });
    else if (one.what === "report") reports.push(report(one.value, { created: at(one.minute) }));
    else {
      const long = one.what === "watch" ? 1 : 0;
      const moment = { firstAt: at(one.minute), lastAt: at(one.minute + long), seconds: long * 60 };
      activity.push({ kind: one.what, targetId: one.id, channelId: one.channel, ...moment });
    }
  }
  return { answers, activity, reports };
}

function naive(one: QuestAction, quest: typeof HALF | typeof ALWAYS, events: Event[]): number {
  const seconds = (value: number | null, otherwise: number) => value ?? otherwise;
  const timesOf = ({ what, minute: began }: Event) =>
    [KICK_OFF + began * 60, KICK_OFF + (began + (what === "watch" ? 1 : 0)) * 60] as const;
  const inTime = events.filter((each) => {
    const [first, last] = timesOf(each);
    return [one, quest].every((own) => first >= seconds(own.timeMinimum, 0) && last <= seconds(own.timeMaximum, 9e9));
  });
  const touchingIt = events.filter((each) => {
    const [first, last] = timesOf(each);
    return [one, quest].every((own) => last >= seconds(own.timeMinimum, 0) && first <= seconds(own.timeMaximum, 9e9));
  });
  const anyValue = one.validationValue === null || one.validationValue === "*";
  const here = (channel: string) => one.channelId === null || one.channelId === channel;
  const parts = one.kind.split(":");
  const counted = new Set<string>();
  const minutesWatched = new Set<number>();
  for (const each of touchingIt) {
    if (!("channel" in each)) continue;
    const named = one.kind === "visit:channel" && one.validationValue !== null;
    if (named ? anyValue || one.validationValue === each.channel : one.kind.startsWith("visit:") && here(each.channel))
      counted.add(each.channel);
  }
  for (const each of inTime) {
    if (parts[0] === "answer" && each.what === "answer") {
      const plural = each.type === "trivia" ? "trivia" : `${each.type}s`;
      if (plural !== parts[1] || (parts[3] === "correctly" && each.correct !== true)) continue;
      if (parts[2] === "any" || anyValue || one.validationValue === each.id) counted.add(each.id);
    }
    const isAsked = parts[1] === "any" || anyValue;
    if (parts[0] === "watch" && each.what === "watch" && here(each.channel) && (isAsked || one.validationValue === each.id))
      minutesWatched.add(each.minute);
    if (one.kind === "view:panel" && each.what === "panel" && here(each.channel) && (anyValue || one.validationValue === each.id))
      counted.add(each.id);
    if (["open:link", "quest:view", "retweet", "share:facebook:video"].includes(one.kind) && each.what === "report") {
      if (anyValue || one.validationValue === each.value) counted.add(each.value);
    }
  }
  return counted.size + minutesWatched.size;
}

test("the rules agree with the reference implementation for every history and kind", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), anAction, fc.constantFrom(ALWAYS, HALF), (events, one, quest) => {
      const [progress] = progressOf({ ...quest, actions: [one] }, historyOf(events)).actions;
      expect(progress?.current).toBe(naive(one, quest, events));
      const isCounted = one.kind === "retweet" || one.kind.startsWith("watch:") || /^answer:\w+:any/.test(one.kind);
      expect(progress?.required).toBe(isCounted ? (one.valueRequired ?? 1) : 1);
      expect(progress?.done).toBe((progress?.current ?? 0) >= (progress?.required ?? 0));
    }),
    { numRuns: 2_000 },
  );
});
