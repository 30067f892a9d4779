import { expect, test } from "vitest";
import { findMentions } from "./mentions.ts";

const people = [
  { accountId: "a", name: "Ann" },
  { accountId: "b", name: "Ann Lee" },
  { accountId: "c", name: "Çelik" },
];

test.each([
  ["finds nobody without an @", "Ann Lee", []],
  ["finds a name after an @", "hey @Ann!", ["a"]],
  ["prefers the longest name", "@Ann Lee, see this", ["b"]],
  ["ignores case", "@ANN and @çelik", ["a", "c"]],
  ["needs the whole name", "@Anna", []],
  ["finds each account once", "@Ann @Ann", ["a"]],
  ["finds a name after the second of two @", "@@Ann", ["a"]],
  ["finds nobody in an email address of a stranger", "x@example", []],
])("findMentions %s", (_, text, expected) => {
  expect(findMentions(text, people)).toEqual(expected);
});

test("findMentions finds ten accounts and no more", () => {
  const crowd = Array.from({ length: 12 }, (_, index) => ({ accountId: `${index}`, name: `Fan ${index}` }));
  const found = findMentions(crowd.map(({ name }) => `@${name}`).join(" "), crowd);
  expect(found).toEqual(crowd.slice(0, 10).map(({ accountId }) => accountId));
});
