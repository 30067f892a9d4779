import type { PollAccess } from "#sdk/overlay/kit/piece.ts";

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
