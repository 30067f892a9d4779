import { expect, test } from "vitest";
import { mergedWords } from "./merged-words.ts";

test.each([
  ["mine alone changed", "a b", "a c", "a b", "a c"],
  ["theirs alone changed", "a b", "a b", "b", "b"],
  ["both added", "a", "a mine", "a theirs", "a theirs mine"],
  ["both added the same", "a", "a new", "a  new", "a new"],
  ["one removed, the other added", "a b c", "a c", "a b c d", "a c d"],
  ["both removed", "a b c", "b c", "a b", "b"],
  ["both made the same of it", "a", "b\nc", "b\nc", "b\nc"],
  ["removed everything", "a b", "", "a b c", "c"],
])("merges words when %s", (_case, before, mine, theirs, merged) => {
  expect(mergedWords(before, mine, theirs)).toBe(merged);
});
