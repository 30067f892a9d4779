import type { QuestAction } from "#db/types.ts";
import { type Activity, type PollAnswered, type QuestKind, type ReportedAction } from "#worker/services/quests/quest-rules.ts";

// Quest actions and what counts towards them, for the tests of the quest rules.

export const KICK_OFF = 1_795_273_200;
export const at = (minute: number) => (KICK_OFF + minute * 60) * 1000;
export const ONE = "5eed00000000000000000011";
export const TWO = "5eed00000000000000000012";
export const STAGE = "5eed0000000000000000c001";
export const BACKSTAGE = "5eed0000000000000000c002";
export const ALWAYS = { timeMinimum: null, timeMaximum: null };
export const HALF = { timeMinimum: KICK_OFF, timeMaximum: KICK_OFF + 45 * 60 };

export const action = (kind: QuestKind, change: Partial<QuestAction> = {}): QuestAction => ({
  ...{ arrayId: "a1B2c3D4e", body: "Do it", kind, callToAction: null, channelId: null, validationValue: null, valueRequired: null },
  ...ALWAYS,
  ...change,
});
export const answer = (pollType: PollAnswered["pollType"], pollId = ONE, change: Partial<PollAnswered> = {}): PollAnswered => ({
  ...{ pollId, pollType, created: at(10), correct: null },
  ...change,
});
export const seen = (kind: Activity["kind"], targetId: string, change: Partial<Activity> = {}): Activity => ({
  ...{ kind, targetId, channelId: STAGE, seconds: 0, firstAt: at(10), lastAt: at(10) },
  ...change,
});
export const watched = (minutes: number, change: Partial<Activity> = {}): Activity =>
  seen("watch", ONE, { seconds: minutes * 60, lastAt: at(10 + minutes), ...change });
export const report = (value: string, change: Partial<ReportedAction> = {}): ReportedAction => ({
  arrayId: "a1B2c3D4e",
  value,
  created: at(10),
  ...change,
});
