import type { QUEST_KINDS } from "#db/enums.ts";
import type { QuestAction } from "#db/types.ts";

// What each kind of action asks for, and how much of it has happened. Pure: what happened is handed in.

export type QuestKind = (typeof QUEST_KINDS)[number];

/** An answer that an account gave to a poll; `correct` is null until the poll is settled. `created` in milliseconds since 1970 UTC. */
export interface PollAnswered {
  pollId: string;
  pollType: "poll" | "prediction" | "trivia";
  created: number;
  correct: boolean | null;
}

/** What an account's connection has shown without a break: so many seconds between two moments (milliseconds since 1970 UTC). */
export interface Activity {
  kind: "watch" | "channel" | "panel";
  targetId: string;
  /** Where it was. */
  channelId: string;
  seconds: number;
  firstAt: number;
  lastAt: number;
}

/** What an account's client has told; `created` in milliseconds since 1970 UTC. */
export interface Reported {
  arrayId: string;
  value: string;
  created: number;
}

/** All that one account's progress follows from. */
export interface Happened {
  answers: readonly PollAnswered[];
  activity: readonly Activity[];
  reports: readonly Reported[];
}

export interface ActionProgress {
  arrayId: string;
  kind: QuestKind;
  current: number;
  required: number;
  done: boolean;
}

/** Seconds since 1970 UTC, both ends included; null: open on that side. */
export interface Window {
  timeMinimum: number | null;
  timeMaximum: number | null;
}

/** Stands for any value. */
export const ANY_VALUE = "*";

interface KindRule {
  /** Where the server learns of it; `report`: from the viewer's client alone. */
  source: "answers" | "activity" | "report" | "nothing";
  needsCallToAction?: true;
  needsWindow?: true;
  /** What a validationValue must look like. */
  validates?: "url" | "id";
  /** Whether valueRequired says how much is asked for; else it is once. */
  counts?: true;
  current(action: QuestAction, happened: Happened, within: Span): number;
}

/** Milliseconds since 1970 UTC, both ends included. */
interface Span {
  from: number;
  to: number;
}

export const KIND_RULES: Record<QuestKind, KindRule> = {
  "answer:polls:any": anyPoll("poll"),
  "answer:predictions:any": anyPoll("prediction"),
  "answer:predictions:any:correctly": anyPoll("prediction", { correctly: true }),
  "answer:trivia:any": anyPoll("trivia"),
  "answer:trivia:any:correctly": anyPoll("trivia", { correctly: true }),
  "answer:polls:specific": specificPoll("poll"),
  "answer:predictions:specific": specificPoll("prediction"),
  "answer:predictions:specific:correctly": specificPoll("prediction", { correctly: true }),
  "answer:trivia:specific": specificPoll("trivia"),
  "answer:trivia:specific:correctly": specificPoll("trivia", { correctly: true }),
  impossible: { source: "nothing", current: () => 0 },
  "open:link": { source: "report", needsCallToAction: true, validates: "url", current: reports },
  "quest:view": { source: "report", current: reports },
  retweet: { source: "report", counts: true, current: reports },
  "share:facebook:video": { source: "report", needsCallToAction: true, current: reports },
  "view:panel": { source: "activity", needsCallToAction: true, validates: "id", current: openedPanels },
  "visit:channel": { source: "activity", validates: "id", current: visitedChannels },
  "visit:time": { source: "activity", needsWindow: true, current: visitedInTime },
  "watch:any:video": { source: "activity", counts: true, current: minutes(anything) },
  "watch:specific:video": { source: "activity", needsCallToAction: true, validates: "id", counts: true, current: minutes(takesValue) },
};

/** How far an account is: with every action, and with the quest, which without actions nobody completes. */
export function progressOf(quest: Window & { actions: readonly QuestAction[] }, happened: Happened) {
  const actions = quest.actions.map((action) => actionProgress(quest, action, happened));
  return { complete: actions.length > 0 && actions.every(({ done }) => done), actions };
}

function actionProgress(quest: Window, action: QuestAction, happened: Happened): ActionProgress {
  const { arrayId, kind } = action;
  const current = KIND_RULES[kind].current(action, happened, spanOf(quest, action));
  const required = requiredOf(action);
  return { arrayId, kind, current, required, done: current >= required };
}

/** How much an action asks for: minutes where something is watched, else how often or how many. */
export function requiredOf({ kind, valueRequired }: QuestAction): number {
  return KIND_RULES[kind].counts ? (valueRequired ?? 1) : 1;
}

/** Whether an action counts what happens at `now` (milliseconds): within its own time and its quest's. */
export function countsAt(quest: Window, action: Window, now: number): boolean {
  return isWithin(spanOf(quest, action), now);
}

/** Whether a quest's own time is on, over or yet to come at `now` (milliseconds). */
export function phaseOf(quest: Window, now: number): "early" | "open" | "over" {
  const { from, to } = spanOf(quest);
  if (now < from) return "early";
  return now > to ? "over" : "open";
}

/** Whether the value is one that the action takes. */
export function takesValue({ validationValue }: Pick<QuestAction, "validationValue">, value: string): boolean {
  return validationValue === null || validationValue === ANY_VALUE || validationValue === value;
}

function anyPoll(type: PollAnswered["pollType"], { correctly = false } = {}): KindRule {
  return { source: "answers", counts: true, current: (_, { answers }, within) => answered(answers, type, correctly, within).size };
}

function specificPoll(type: PollAnswered["pollType"], { correctly = false } = {}): KindRule {
  return {
    source: "answers",
    needsCallToAction: true,
    validates: "id",
    current: (action, { answers }, within) =>
      [...answered(answers, type, correctly, within)].filter((pollId) => takesValue(action, pollId)).length,
  };
}

/** Polls, each once, however often it was answered. */
function answered(answers: Happened["answers"], type: PollAnswered["pollType"], correctly: boolean, within: Span): Set<string> {
  const counted = answers.filter(
    ({ pollType, correct, created }) => pollType === type && (!correctly || correct === true) && isWithin(within, created),
  );
  return new Set(counted.map(({ pollId }) => pollId));
}

/** Values, each once, however often it was reported. */
function reports(action: QuestAction, happened: Happened, within: Span): number {
  const counted = happened.reports.filter(
    ({ arrayId, value, created }) => arrayId === action.arrayId && takesValue(action, value) && isWithin(within, created),
  );
  return new Set(counted.map(({ value }) => value)).size;
}

function minutes(takes: typeof takesValue): KindRule["current"] {
  return (action, { activity }, within) => {
    const watched = activity.filter((one) => one.kind === "watch" && takes(action, one.targetId) && isOnChannel(action, one));
    return Math.floor(clockTime(within, watched) / 60_000);
  };
}

/** Milliseconds of what lies within for certain: what goes on at the same time, on several screens, passes no faster than the clock. */
function clockTime(within: Span, activity: Activity[]): number {
  const edges = activity.flatMap((one) => {
    const seconds = secondsWithin(within, one);
    if (seconds === 0) return [];
    const [from, to] = [Math.max(within.from, one.firstAt), Math.min(within.to, one.lastAt)];
    const share = (seconds * 1000) / Math.max(1, to - from);
    return [
      { at: from, change: share },
      { at: to, change: -share },
    ];
  });
  let [sum, shares, last] = [0, 0, 0];
  for (const { at, change } of edges.sort((one, other) => one.at - other.at)) {
    sum += Math.min(1, shares) * (at - last);
    shares += change;
    last = at;
  }
  return Math.round(sum);
}

function openedPanels(action: QuestAction, { activity }: Happened, within: Span): number {
  const opened = activity.filter(
    (one) => one.kind === "panel" && takesValue(action, one.targetId) && isOnChannel(action, one) && isSeen(within, one),
  );
  return new Set(opened.map(({ targetId }) => targetId)).size;
}

/** The channel that is named may be another than the one where that is asked for. */
function visitedChannels(action: QuestAction, happened: Happened, within: Span): number {
  if (action.validationValue === null) return visitedInTime(action, happened, within);
  return [...channelsSeen(happened, within)].filter((channelId) => takesValue(action, channelId)).length;
}

function visitedInTime(action: QuestAction, happened: Happened, within: Span): number {
  return [...channelsSeen(happened, within)].filter((channelId) => isOnChannel(action, { channelId })).length;
}

/** Whoever does anything on a channel is there. */
function channelsSeen({ activity }: Happened, within: Span): Set<string> {
  return new Set(activity.filter((one) => isSeen(within, one)).map(({ channelId }) => channelId));
}

function anything(): boolean {
  return true;
}

function isOnChannel({ channelId }: QuestAction, activity: Pick<Activity, "channelId">): boolean {
  return channelId === null || channelId === activity.channelId;
}

/** Whether some of it lies within for certain: of a long time only the ends are known, and how much of it was used. */
function isSeen(within: Span, activity: Activity): boolean {
  return isWithin(within, activity.firstAt) || isWithin(within, activity.lastAt) || secondsWithin(within, activity) > 0;
}

/** Those that lie within for certain: what may have happened outside is taken off. */
function secondsWithin({ from, to }: Span, { seconds, firstAt, lastAt }: Activity): number {
  if (lastAt < from || firstAt > to) return 0;
  const outside = Math.max(0, from - firstAt) + Math.max(0, lastAt - to);
  return Math.max(0, seconds - outside / 1000);
}

function isWithin({ from, to }: Span, moment: number): boolean {
  return moment >= from && moment <= to;
}

/** The time that all of them have in common. */
function spanOf(...windows: Window[]): Span {
  return {
    from: Math.max(...windows.map(({ timeMinimum }) => (timeMinimum === null ? -Infinity : timeMinimum * 1000))),
    to: Math.min(...windows.map(({ timeMaximum }) => (timeMaximum === null ? Infinity : timeMaximum * 1000))),
  };
}
