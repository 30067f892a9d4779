import type { PollAccess } from "#sdk/overlay/kit/piece.ts";
import { ARABIC_POLL } from "./arabic.ts";

/** What is left of the countdown when it is first shown. */
export const LEFT_MS = 754_000;

/** When the gallery's static markup is drawn, in ms: the countdown's sample has some minutes left then. */
export const STATIC_NOW = 1_795_170_000_000 - LEFT_MS;

const ENGLISH_POLL = { question: "Who is the player of the match?", kind: "Poll", answers: ["Ada Moreno", "Yuki Tanaka", "Noor Haddad"] };
const SHARES = [0.61, 0.27, 0.12];

/** A poll for the gallery, which isn't connected to a channel. */
export function samplePoll(dir: "ltr" | "rtl" = "ltr"): PollAccess {
  const { question, kind, answers } = dir === "rtl" ? ARABIC_POLL : ENGLISH_POLL;
  return {
    question,
    kind,
    open: true,
    total: 18_342,
    problem: "",
    answers: answers.map((answer, index) => ({ answerId: String(index + 1), answer, share: SHARES[index] ?? 0 })),
    answer: () => {},
  };
}
