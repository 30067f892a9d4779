import type { Schemas } from "#sdk/client/index.ts";
import { localTime } from "#studio/ui/local-time.ts";

// The form of a poll, as pure functions.

export type Poll = Schemas["Poll"];
export type PollResults = Schemas["PollResults"];
export type PollType = Poll["type"];

export const TYPES: readonly PollType[] = ["poll", "prediction", "trivia"];
export const TYPE_NAMES: Record<PollType, string> = { poll: "Poll", prediction: "Prediction", trivia: "Trivia" };
export const TYPE_HELP: Record<PollType, string> = {
  poll: "What viewers think. There is no right answer.",
  prediction: "Settled when the outcome is known.",
  trivia: "The correct answer is known in advance.",
};

export interface AnswerDraft {
  /** Of an answer that exists, which keeps its responses. */
  id: string;
  answer: string;
  imageUrl: string;
}

export interface PollDraft {
  question: string;
  name: string;
  type: PollType;
  answers: AnswerDraft[];
  /** Position of the correct answer; empty for none. */
  correct: string;
  /** Local time of the form's field; empty for none. */
  locksAt: string;
  responsesPerViewer: string;
  responseCost: string;
  hideResults: boolean;
}

export const NEW_ANSWER: AnswerDraft = { id: "", answer: "", imageUrl: "" };

export const NEW_POLL: PollDraft = {
  question: "",
  name: "",
  type: "poll",
  answers: [NEW_ANSWER, NEW_ANSWER],
  correct: "",
  locksAt: "",
  responsesPerViewer: "1",
  responseCost: "0",
  hideResults: false,
};

export function draftOf(poll: Poll): PollDraft {
  const correct = poll.answers.findIndex(({ _id }) => _id === poll.correctAnswerId);
  return {
    question: poll.question,
    name: poll.name,
    type: poll.type,
    answers: poll.answers.map(({ _id, answer, imageUrl }) => ({ id: _id, answer, imageUrl: imageUrl ?? "" })),
    correct: correct === -1 ? "" : String(correct),
    locksAt: localTime(poll.locksAt),
    responsesPerViewer: String(poll.responsesPerViewer),
    responseCost: String(poll.responseCost),
    hideResults: poll.hideResults,
  };
}

/** What the poll's own operations save: everything but its answers and what is opened, closed and settled by buttons. */
export function fieldsOf(draft: PollDraft) {
  return {
    question: draft.question.trim(),
    name: draft.name.trim() === "" ? draft.question.trim().slice(0, 200) : draft.name.trim(),
    type: draft.type,
    locksAt: draft.locksAt === "" ? null : Date.parse(draft.locksAt),
    responsesPerViewer: Number(draft.responsesPerViewer),
    responseCost: Number(draft.responseCost),
    hideResults: draft.hideResults,
  };
}

export function answersOf({ answers }: PollDraft) {
  return answers.map(({ id, answer, imageUrl }) => ({
    ...(id !== "" && { _id: id }),
    answer: answer.trim(),
    imageUrl: imageUrl.trim() === "" ? null : imageUrl.trim(),
  }));
}

/** Whether the answers have to be saved. */
export function changesAnswers(draft: PollDraft, poll: Poll): boolean {
  return JSON.stringify(answersOf(draft)) !== JSON.stringify(answersOf(draftOf(poll)));
}

/** The correct answer of trivia among the saved answers, which are in the form's order. */
export function correctIdOf({ type, correct }: PollDraft, answers: readonly { _id: string }[]): string | null {
  return type === "trivia" && correct !== "" ? (answers[Number(correct)]?._id ?? null) : null;
}

/** Where the correct answer is after an answer was moved or removed. */
export function correctAfter(correct: string, change: { moved: [number, number] } | { removed: number }): string {
  if (correct === "") return "";
  const at = Number(correct);
  if ("removed" in change) return change.removed === at ? "" : String(change.removed < at ? at - 1 : at);
  const [from, to] = change.moved;
  if (at === from) return String(to);
  if (from < at && at <= to) return String(at - 1);
  return to <= at && at < from ? String(at + 1) : correct;
}

export type Stage = "settled" | "open" | "closed";

export function stageOf({ open, settled }: Poll): Stage {
  return settled === null ? (open ? "open" : "closed") : "settled";
}

export const STAGE_NAMES: Record<Stage, string> = { settled: "Settled", open: "Open", closed: "Closed" };

export interface Bar {
  id: string;
  answer: string;
  responses: number;
  /** 0 to 1. */
  share: number;
  isCorrect: boolean;
}

/** The answers with their counts, which are 0 until the first response. */
export function barsOf(poll: Poll, results: PollResults | undefined): Bar[] {
  const counts = new Map(results?.answers.map((answer) => [answer.answerId, answer]));
  return poll.answers.map(({ _id, answer }) => {
    const { responses = 0, share = 0 } = counts.get(_id) ?? {};
    return { id: _id, answer, responses, share, isCorrect: poll.settled !== null && poll.correctAnswerId === _id };
  });
}
