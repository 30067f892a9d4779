import { expect, test } from "vitest";
import { wordsOfPath } from "./words-of-path.ts";

test.each([
  ["/guides/polls-and-quests", "polls and quests"],
  ["/guides/polls_and_quests/", "polls and quests"],
  ["/docs/reference/createPol.html", "createPol"],
  ["/guides/live%20chat", "live chat"],
  ["/100%", "100%"],
  ["/404", "404"],
  ["/", ""],
])("reads the words of %s", (path, words) => {
  expect(wordsOfPath(path)).toBe(words);
});
