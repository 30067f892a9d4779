import { describe, expect, test } from "vitest";
import { QUESTION_STATES } from "#db/enums.ts";
import { decide, isListed, isPublic, type Outcome, type QuestionState, type Verdict } from "./question-state.ts";

const change: Verdict = "change";
const never: Verdict = "not allowed";
const same: Verdict = "unchanged";

/** The verdict by the current state, for each next state in the order of QUESTION_STATES. */
const EXPECTED: Record<QuestionState, Record<QuestionState, Verdict>> = {
  submitted: { submitted: same, approved: change, dismissed: change, answered: change, merged: change },
  approved: { submitted: never, approved: same, dismissed: change, answered: change, merged: change },
  dismissed: { submitted: never, approved: change, dismissed: same, answered: never, merged: never },
  answered: { submitted: never, approved: change, dismissed: change, answered: same, merged: never },
  merged: { submitted: never, approved: never, dismissed: change, answered: never, merged: same },
};

function outcome(state: QuestionState): Outcome {
  return { state, answer: state === "answered" ? "At eight" : null, mergedInto: state === "merged" ? "other" : null };
}

const cases = QUESTION_STATES.flatMap((from) => QUESTION_STATES.map((to) => ({ from, to, verdict: EXPECTED[from][to] })));

describe("a moderator's decision", () => {
  test.each(cases)("from $from to $to is: $verdict", ({ from, to, verdict }) => {
    expect(decide(outcome(from), outcome(to))).toBe(verdict);
  });

  test("can change the text of an answer", () => {
    expect(decide(outcome("answered"), { ...outcome("answered"), answer: "At nine" })).toBe("change");
  });

  test("can't move a merged question to another target", () => {
    expect(decide(outcome("merged"), { ...outcome("merged"), mergedInto: "a third" })).toBe("not allowed");
  });
});

test("viewers see approved, answered and merged questions, and only the first two as questions of their own", () => {
  expect(QUESTION_STATES.filter(isPublic)).toEqual(["approved", "answered", "merged"]);
  expect(QUESTION_STATES.filter(isListed)).toEqual(["approved", "answered"]);
});
