import type { PollAccess } from "#sdk/overlay/kit/piece.ts";

/** What is left of the countdown when it is first shown. */
export const LEFT_MS = 754_000;

/** When the gallery's static markup is drawn, in ms: the countdown's sample has some minutes left then. */
export const STATIC_NOW = 1_795_170_000_000 - LEFT_MS;

/** A poll for the gallery, which isn't connected to a channel. */
export function samplePoll(): PollAccess {
  return {
    question: "Who is the player of the match?",
    kind: "Poll",
    open: true,
    total: 18_342,
    problem: "",
    answers: [
      { answerId: "1", answer: "Ada Moreno", share: 0.61 },
      { answerId: "2", answer: "Yuki Tanaka", share: 0.27 },
      { answerId: "3", answer: "Noor Haddad", share: 0.12 },
    ],
    answer: () => {},
  };
}
