import type { QUESTION_STATES } from "#db/enums.ts";

export type QuestionState = (typeof QUESTION_STATES)[number];

/** The states that a moderator can move a question to from each state. */
const TRANSITIONS: Record<QuestionState, readonly QuestionState[]> = {
  submitted: ["approved", "dismissed", "answered", "merged"],
  approved: ["dismissed", "answered", "merged"],
  answered: ["approved", "dismissed", "answered"],
  dismissed: ["approved"],
  // Its voters count for the other question, so that it can only be hidden.
  merged: ["dismissed"],
};

/** The part of a question that a decision changes. */
export interface Outcome {
  state: QuestionState;
  answer: string | null;
  mergedInto: string | null;
}

/** What a decision does to a question: nothing if it already applies, or not allowed. */
export type Verdict = "change" | "unchanged" | "not allowed";

/** Whether a question can get this outcome. */
export function decide(current: Outcome, next: Outcome): Verdict {
  if (current.state === next.state && current.answer === next.answer && current.mergedInto === next.mergedInto) return "unchanged";
  return TRANSITIONS[current.state].includes(next.state) ? "change" : "not allowed";
}

/** Whether viewers may see a question in this state. */
export function isPublic(state: QuestionState): state is "approved" | "answered" | "merged" {
  return state === "approved" || state === "answered" || state === "merged";
}

/** Whether a question in this state can be shown on screen, and others can be merged into it. */
export function isListed(state: QuestionState): boolean {
  return state === "approved" || state === "answered";
}
