import type { polls } from "#db/schema/engagement/polls.ts";
import type { PollAnswer } from "#db/types.ts";
import { HOUR, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";

type PollInsert = typeof polls.$inferInsert;

/** The questions of the match day. */
export const DERBY_RESULT = "5eed00000000000000006001";
export const SPRING_SCORER = "5eed00000000000000006002";
export const NEXT_GOAL = "5eed00000000000000006004";

export function demoPolls(): PollInsert[] {
  return [
    poll("01", SITE_A, {
      type: "prediction",
      name: "Derby result",
      question: "Who wins the derby?",
      answers: answers("01", ["Harbour City", "A draw", "Old Dock"]),
      open: true,
    }),
    poll("02", SITE_A, {
      type: "trivia",
      name: "Spring derby scorer",
      question: "Who scored the winner in spring?",
      answers: answers("02", ["Ada Moreno", "Ruth Okafor", "An own goal"]),
      open: false,
      correctAnswerId: "5eed00000000000000600201",
      settled: KICK_OFF - HOUR,
    }),
    poll("03", SITE_A, {
      type: "poll",
      name: "Goal of the season",
      question: "Which goal of the season do you vote for?",
      answers: answers("03", ["The bicycle kick", "The free kick from the halfway line"]),
      open: true,
      responsesPerViewer: 3,
      hideResults: true,
    }),
    // A stake of what the viewer has in its wallet.
    poll("04", SITE_A, {
      type: "prediction",
      name: "Next goal",
      question: "Who scores the next goal?",
      answers: answers("04", ["Ada Moreno", "Ruth Okafor", "Somebody else"]),
      open: true,
      responseCost: 50,
    }),
    poll("11", SITE_B, {
      type: "poll",
      name: "Away song",
      question: "Which song do we sing first?",
      answers: answers("11", ["Up the Dock", "Tide is turning"]),
      open: true,
    }),
  ];
}

function answers(number: string, texts: string[]): PollAnswer[] {
  return texts.map((answer, index) => ({ id: `5eed0000000000000060${number}0${index + 1}`, answer, imageUrl: null }));
}

function poll(
  number: string,
  siteId: string,
  fields: Pick<PollInsert, "type" | "name" | "question" | "answers" | "open"> & Partial<PollInsert>,
): PollInsert {
  return { ...stamps, id: `5eed000000000000000060${number}`, siteId, responsesPerViewer: 1, hideResults: false, ...fields };
}
