import { expect, test } from "vitest";
import { decodeWords, encodeWords } from "./word-index.ts";

test("an index of words lists each word with the distances between its documents", () => {
  expect(encodeWords([["poll", "vote"], [], ["poll"], ["poll", "poll"]])).toEqual(["poll 0 2 1", "vote 0"]);
});

test("an index of words returns the words of each document, also of many and of none", () => {
  const documents = Array.from({ length: 90 }, (_, at) => (at % 40 === 0 ? ["quest", `word${at}`] : at === 7 ? [] : ["poll"]));
  expect(decodeWords(encodeWords(documents), documents.length)).toEqual(documents);
});
