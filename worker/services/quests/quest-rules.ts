import type { QUEST_KINDS } from "#db/enums.ts";
import type { QuestAction } from "#db/types.ts";

// What each kind of action requires, and how much of it an account has done. Pure functions of the account's history.

export type QuestKind = (typeof QUEST_KINDS)[number];

/** An account's response to a poll; `correct` is null until the poll is settled. `created` in milliseconds since 1970 UTC. */
export interface PollAnswered {
  pollId: string;
  pollType: "poll" | "prediction" | "trivia";
  created: number;
  correct: boolean | null;
}

/** Uninterrupted activity on an account's connection: `seconds` of it between two times (milliseconds since 1970 UTC). */
export interface Activity {
  kind: "watch" | "channel" | "panel";
  targetId: string;
  /** The channel on which it was observed. */
  channelId: string;
  seconds: number;
  firstAt: number;
  lastAt: number;
}

/** An action that an account's client has reported; `created` in milliseconds since 1970 UTC. */
export interface ReportedAction {
  arrayId: string;
  value: string;
  created: number;
}

/** Everything that an account's progress depends on. */
export interface AccountHistory {
  answers: readonly PollAnswered[];
  activity: readonly Activity[];
  reports: readonly ReportedAction[];
}

export interface ActionProgress {
  arrayId: string;
  kind: QuestKind;
  current: number;
  required: number;
  done: boolean;
}

/** Seconds since 1970 UTC, inclusive; null means unbounded on that side. */
export interface Window {
  timeMinimum: number | null;
  timeMaximum: number | null;
}

/** Matches any value. */
export const ANY_VALUE = "*";

interface KindRule {
  /** Where the server gets it from; `report` means only from the viewer's client. */
  source: "answers" | "activity" | "report" | "nothing";
  needsCallToAction?: true;
  needsWindow?: true;
  /** The format of validationValue. */
  validates?: "url" | "id";
  /** Whether valueRequired applies; otherwise once is enough. */
  counts?: true;
  current(action: QuestAction, history: AccountHistory, within: Span): number;
}

/** Milliseconds since 1970 UTC, inclusive. */
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
  "watch:any:video": { source: "activity", counts: true, current: minutesWatched(anyVideo) },
  "watch:specific:video": {
    source: "activity",
    needsCallToAction: true,
    validates: "id",
    counts: true,
    current: minutesWatched(acceptsValue),
  },
};

/** An account's progress with each action and with the quest. A quest without actions is never complete. */
export function progressOf(quest: Window & { actions: readonly QuestAction[] }, history: AccountHistory) {
  const actions = quest.actions.map((action) => actionProgress(quest, action, history));
  return { complete: actions.length > 0 && actions.every(({ done }) => done), actions };
}

function actionProgress(quest: Window, action: QuestAction, history: AccountHistory): ActionProgress {
  const { arrayId, kind } = action;
  const current = KIND_RULES[kind].current(action, history, spanOf(quest, action));
  const required = requiredOf(action);
  return { arrayId, kind, current, required, done: current >= required };
}

/** How much an action requires: minutes for watching, otherwise a count. */
export function requiredOf({ kind, valueRequired }: QuestAction): number {
  return KIND_RULES[kind].counts ? (valueRequired ?? 1) : 1;
}

/** Whether `now` (milliseconds) is within the time windows of both the action and its quest. */
export function countsAt(quest: Window, action: Window, now: number): boolean {
  return isWithin(spanOf(quest, action), now);
}

/** Whether a quest's time window is open, over or yet to come at `now` (milliseconds). */
export function phaseOf(quest: Window, now: number): "early" | "open" | "over" {
  const { from, to } = spanOf(quest);
  if (now < from) return "early";
  return now > to ? "over" : "open";
}

/** Whether the action accepts the value. */
export function acceptsValue({ validationValue }: Pick<QuestAction, "validationValue">, value: string): boolean {
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
      [...answered(answers, type, correctly, within)].filter((pollId) => acceptsValue(action, pollId)).length,
  };
}

/** The distinct polls that were answered. */
function answered(answers: AccountHistory["answers"], type: PollAnswered["pollType"], correctly: boolean, within: Span): Set<string> {
  const counted = answers.filter(
    ({ pollType, correct, created }) => pollType === type && (!correctly || correct === true) && isWithin(within, created),
  );
  return new Set(counted.map(({ pollId }) => pollId));
}

/** The number of distinct values that were reported. */
function reports(action: QuestAction, history: AccountHistory, within: Span): number {
  const counted = history.reports.filter(
    ({ arrayId, value, created }) => arrayId === action.arrayId && acceptsValue(action, value) && isWithin(within, created),
  );
  return new Set(counted.map(({ value }) => value)).size;
}

function minutesWatched(accepts: typeof acceptsValue): KindRule["current"] {
  return (action, { activity }, within) => {
    const watched = activity.filter((one) => one.kind === "watch" && accepts(action, one.targetId) && isOnChannel(action, one));
    return Math.floor(clockTime(within, watched) / 60_000);
  };
}

/** Milliseconds certainly within the window. Concurrent activity on several screens counts at most once per unit of time. */
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
  let [sum, totalShare, last] = [0, 0, 0];
  for (const { at, change } of edges.sort((one, other) => one.at - other.at)) {
    sum += Math.min(1, totalShare) * (at - last);
    totalShare += change;
    last = at;
  }
  return Math.round(sum);
}

function openedPanels(action: QuestAction, { activity }: AccountHistory, within: Span): number {
  const opened = activity.filter(
    (one) => one.kind === "panel" && acceptsValue(action, one.targetId) && isOnChannel(action, one) && isSeen(within, one),
  );
  return new Set(opened.map(({ targetId }) => targetId)).size;
}

/** The channel to visit (validationValue) may differ from the action's own channel. */
function visitedChannels(action: QuestAction, history: AccountHistory, within: Span): number {
  if (action.validationValue === null) return visitedInTime(action, history, within);
  return [...channelsSeen(history, within)].filter((channelId) => acceptsValue(action, channelId)).length;
}

function visitedInTime(action: QuestAction, history: AccountHistory, within: Span): number {
  return [...channelsSeen(history, within)].filter((channelId) => isOnChannel(action, { channelId })).length;
}

/** Any activity on a channel counts as a visit. */
function channelsSeen({ activity }: AccountHistory, within: Span): Set<string> {
  return new Set(activity.filter((one) => isSeen(within, one)).map(({ channelId }) => channelId));
}

function anyVideo(): boolean {
  return true;
}

function isOnChannel({ channelId }: QuestAction, activity: Pick<Activity, "channelId">): boolean {
  return channelId === null || channelId === activity.channelId;
}

/** Whether some activity is certainly within the window. Only the ends and the total duration are known. */
function isSeen(within: Span, activity: Activity): boolean {
  return isWithin(within, activity.firstAt) || isWithin(within, activity.lastAt) || secondsWithin(within, activity) > 0;
}

/** The seconds certainly within the window: the time that may have been outside is subtracted. */
function secondsWithin({ from, to }: Span, { seconds, firstAt, lastAt }: Activity): number {
  if (lastAt < from || firstAt > to) return 0;
  const outside = Math.max(0, from - firstAt) + Math.max(0, lastAt - to);
  return Math.max(0, seconds - outside / 1000);
}

function isWithin({ from, to }: Span, moment: number): boolean {
  return moment >= from && moment <= to;
}

/** The intersection of the windows. */
function spanOf(...windows: Window[]): Span {
  return {
    from: Math.max(...windows.map(({ timeMinimum }) => (timeMinimum === null ? -Infinity : timeMinimum * 1000))),
    to: Math.min(...windows.map(({ timeMaximum }) => (timeMaximum === null ? Infinity : timeMaximum * 1000))),
  };
}
