import type { Schemas } from "#sdk/client/index.ts";
import { localTime } from "#studio/ui/local-time.ts";

// The form of a quest, as pure functions. What the form doesn't show stays as it was.

export type Quest = Schemas["Quest"];
export type QuestInput = Schemas["QuestInput"];
export type Kind = Quest["actions"][number]["kind"];
export type Reward = Quest["rewardType"];

export const REWARDS: readonly Reward[] = ["raffle", "prize", "webhook", "prize-service-specific"];
export const REWARD_NAMES: Record<Reward, string> = {
  raffle: "An entry in a raffle",
  prize: "A prize, granted at once",
  webhook: "By your systems, told by a webhook",
  "prize-service-specific": "By a prize service",
};

/** What a task asks for, and which of its fields it needs. */
interface KindInfo {
  text: string;
  /** The unit of the amount, if there is one. */
  amount?: string;
  /** What the value must be: an id, a link or any text. */
  value?: string;
  /** Where viewers are sent. */
  link?: boolean;
  window?: boolean;
}

export const KINDS: Record<Kind, KindInfo> = {
  "answer:polls:any": { text: "Answer polls", amount: "Polls" },
  "answer:predictions:any": { text: "Make predictions", amount: "Predictions" },
  "answer:predictions:any:correctly": { text: "Make predictions that come true", amount: "Predictions" },
  "answer:trivia:any": { text: "Answer trivia", amount: "Questions" },
  "answer:trivia:any:correctly": { text: "Answer trivia correctly", amount: "Questions" },
  "answer:polls:specific": { text: "Answer one poll", value: "Poll", link: true },
  "answer:predictions:specific": { text: "Make one prediction", value: "Poll", link: true },
  "answer:predictions:specific:correctly": { text: "Make one prediction that comes true", value: "Poll", link: true },
  "answer:trivia:specific": { text: "Answer one trivia question", value: "Poll", link: true },
  "answer:trivia:specific:correctly": { text: "Answer one trivia question correctly", value: "Poll", link: true },
  "open:link": { text: "Open a link", value: "Link", link: true },
  "quest:view": { text: "Look at a quest", value: "Value" },
  retweet: { text: "Repost", amount: "Posts", value: "Value" },
  "share:facebook:video": { text: "Share a video on Facebook", value: "Value", link: true },
  "view:panel": { text: "Open a panel", value: "Panel’s id", link: true },
  "visit:channel": { text: "Visit a channel", value: "Channel" },
  "visit:time": { text: "Be there at a time", window: true },
  "watch:any:video": { text: "Watch any video", amount: "Minutes" },
  "watch:specific:video": { text: "Watch one video", amount: "Minutes", value: "Video’s id", link: true },
  impossible: { text: "Something that can’t be completed" },
};

export interface TaskDraft {
  arrayId: string;
  body: string;
  kind: Kind;
  callToAction: string;
  channelId: string;
  validationValue: string;
  valueRequired: string;
  timeMinimum: string;
  timeMaximum: string;
}

export interface QuestDraft {
  title: string;
  description: string;
  rewardType: Reward;
  rewardDescription: string;
  rewardImage: string;
  productId: string;
  rewardAmount: string;
  claimCost: string;
  claimedMessage: string;
  timeMinimum: string;
  timeMaximum: string;
  channelIds: string[];
  tasks: TaskDraft[];
}

export const NEW_QUEST: QuestDraft = {
  title: "",
  description: "",
  rewardType: "raffle",
  rewardDescription: "",
  rewardImage: "",
  productId: "",
  rewardAmount: "0",
  claimCost: "0",
  claimedMessage: "",
  timeMinimum: "",
  timeMaximum: "",
  channelIds: [],
  tasks: [],
};

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** A task with an id of its own, by which viewers' progress is known. */
export function newTask(): TaskDraft {
  const arrayId = [...crypto.getRandomValues(new Uint8Array(9))].map((byte) => LETTERS.charAt(byte % LETTERS.length)).join("");
  const empty = { body: "", callToAction: "", channelId: "", validationValue: "", valueRequired: "", timeMinimum: "", timeMaximum: "" };
  return { arrayId, kind: "watch:any:video", ...empty };
}

export function draftOf(quest: Quest): QuestDraft {
  return {
    title: quest.title,
    description: quest.description,
    rewardType: quest.rewardType,
    rewardDescription: quest.rewardDescription,
    rewardImage: quest.rewardImage ?? "",
    productId: quest.productId ?? "",
    rewardAmount: String(quest.rewardAmount),
    claimCost: String(quest.claimCost),
    claimedMessage: quest.claimedMessage,
    timeMinimum: fieldTime(quest.timeMinimum),
    timeMaximum: fieldTime(quest.timeMaximum),
    channelIds: quest.channelIds,
    tasks: quest.actions.map((action) => ({
      arrayId: action.arrayId,
      body: action.body,
      kind: action.kind,
      callToAction: action.callToAction ?? "",
      channelId: action.channelId ?? "",
      validationValue: action.validationValue ?? "",
      valueRequired: action.valueRequired === null ? "" : String(action.valueRequired),
      timeMinimum: fieldTime(action.timeMinimum),
      timeMaximum: fieldTime(action.timeMaximum),
    })),
  };
}

/** The quest as it is saved: `kept` is the saved one, of which the form doesn't show everything. */
export function questOf(draft: QuestDraft, siteId: string, kept: Quest | null): QuestInput {
  return {
    siteId,
    title: draft.title.trim(),
    description: draft.description,
    rewardType: draft.rewardType,
    rewardDescription: draft.rewardDescription,
    rewardImage: orNull(draft.rewardImage),
    productId: orNull(draft.productId),
    rewardAmount: draft.rewardType === "prize" ? Number(draft.rewardAmount) : 0,
    claimCost: Number(draft.claimCost),
    claimedMessage: draft.claimedMessage,
    timeMinimum: seconds(draft.timeMinimum),
    timeMaximum: seconds(draft.timeMaximum),
    channelIds: draft.channelIds,
    actions: draft.tasks.map(actionOf),
    regions: kept?.regions ?? [],
    tags: kept?.tags ?? [],
    webhookId: kept?.webhookId ?? null,
    webhookType: kept?.webhookType ?? null,
    webhookValue: kept?.webhookValue ?? null,
  };
}

function actionOf(task: TaskDraft): NonNullable<QuestInput["actions"]>[number] {
  const { amount, value, link } = KINDS[task.kind];
  return {
    arrayId: task.arrayId,
    body: task.body.trim() === "" ? KINDS[task.kind].text : task.body.trim(),
    kind: task.kind,
    callToAction: link === true ? orNull(task.callToAction) : null,
    channelId: orNull(task.channelId),
    validationValue: value === undefined ? null : orNull(task.validationValue),
    valueRequired: amount === undefined || task.valueRequired.trim() === "" ? null : Number(task.valueRequired),
    timeMinimum: seconds(task.timeMinimum),
    timeMaximum: seconds(task.timeMaximum),
  };
}

function orNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

/** The API's times of quests are in seconds. */
function seconds(text: string): number | null {
  return text === "" ? null : Math.floor(Date.parse(text) / 1000);
}

function fieldTime(time: number | null): string {
  return localTime(time === null ? null : time * 1000);
}

export const STATE_NAMES: Record<Quest["state"], string> = { upcoming: "Upcoming", open: "Open", ended: "Ended" };

export interface FieldsProps {
  draft: QuestDraft;
  problems: Record<string, string>;
  onChange: (change: Partial<QuestDraft>) => void;
}
