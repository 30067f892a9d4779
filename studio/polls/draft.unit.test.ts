import { describe, expect, test } from "vitest";
import { answersOf, barsOf, changesAnswers, correctAfter, correctIdOf, draftOf, fieldsOf, NEW_POLL, type Poll, stageOf } from "./draft.ts";

const poll: Poll = {
  _id: "p",
  siteId: "s",
  type: "trivia",
  question: "Who scored first?",
  name: "First goal",
  open: true,
  responsesPerViewer: 1,
  hideResults: false,
  responseCost: 0,
  correctAnswerId: "b",
  locksAt: null,
  settled: null,
  answers: [
    { _id: "a", pollId: "p", answer: "Moreno", imageUrl: null },
    { _id: "b", pollId: "p", answer: "Okafor", imageUrl: "https://demo.example/b.png" },
  ],
  created: 1,
  modified: 1,
};

describe("the form of a poll", () => {
  test("keeps the answers' ids, so that their responses stay", () => {
    expect(answersOf(draftOf(poll))).toEqual([
      { _id: "a", answer: "Moreno", imageUrl: null },
      { _id: "b", answer: "Okafor", imageUrl: "https://demo.example/b.png" },
    ]);
  });

  test("saves answers only if they were changed", () => {
    const draft = draftOf(poll);
    expect(changesAnswers(draft, poll)).toBe(false);
    expect(changesAnswers({ ...draft, answers: draft.answers.toReversed() }, poll)).toBe(true);
  });

  test("names a poll after its question if it has no name", () => {
    expect(fieldsOf({ ...NEW_POLL, question: " Who wins? " })).toMatchObject({ name: "Who wins?", question: "Who wins?", locksAt: null });
  });

  test("keeps a lock at the same moment", () => {
    const at = Date.parse("2026-11-23T20:15:30Z");
    expect(fieldsOf(draftOf({ ...poll, locksAt: at })).locksAt).toBe(at);
  });

  test("has a correct answer for trivia alone", () => {
    const draft = draftOf(poll);
    expect(correctIdOf(draft, poll.answers)).toBe("b");
    expect(correctIdOf({ ...draft, type: "prediction" }, poll.answers)).toBeNull();
  });
});

describe("the correct answer", () => {
  test.each([
    { before: "0", from: 0, to: 2, after: "2" },
    { before: "1", from: 0, to: 2, after: "0" },
    { before: "1", from: 2, to: 0, after: "2" },
  ])("at $before stays itself after $from moves to $to", ({ before, from, to, after }) =>
    expect(correctAfter(before, { moved: [from, to] })).toBe(after),
  );

  test.each([
    { before: "2", removed: 0, after: "1" },
    { before: "1", removed: 1, after: "" },
    { before: "", removed: 1, after: "" },
  ])("at '$before' is at '$after' after $removed is removed", ({ before, removed, after }) =>
    expect(correctAfter(before, { removed })).toBe(after),
  );
});

test("the bars of a poll without results are empty, and none is correct before it is settled", () => {
  expect(barsOf(poll, undefined)).toMatchObject([
    { answer: "Moreno", responses: 0, share: 0, isCorrect: false },
    { answer: "Okafor", isCorrect: false },
  ]);
  expect(barsOf({ ...poll, settled: 5, open: false }, undefined)[1]?.isCorrect).toBe(true);
});

test("a settled poll is neither open nor closed", () => {
  expect([poll, { ...poll, open: false }, { ...poll, open: false, settled: 5 }].map(stageOf)).toEqual(["open", "closed", "settled"]);
});
