import { expect, test } from "vitest";
import { cellText } from "./cell.tsx";
import { differences } from "./differences.ts";
import { problemWith } from "./validation.ts";

const common = { name: "x", label: "X", required: true, nullable: false } as const;

test("two versions differ where a value was changed, added or removed", () => {
  const mine = { data: { name: "Mine", gate: { type: "none" } }, slug: "main", tags: ["a"] };
  const theirs = { data: { name: "Theirs", gate: { type: "none" } }, tags: ["a", "b"], seo: { title: "T" } };
  expect(differences(mine, theirs)).toEqual([
    { path: "data.name", mine: "Mine", theirs: "Theirs" },
    { path: "slug", mine: "main", theirs: "–" },
    { path: "tags", mine: '["a"]', theirs: '["a","b"]' },
    { path: "seo.title", mine: "–", theirs: "T" },
  ]);
});

test("a value that can't be right is named before it is sent", () => {
  const number = { ...common, kind: "number", integer: true, minimum: 1, maximum: 9 } as const;
  expect(["", "x", "1.5", "0", "10", "5"].map((value) => problemWith(number, value))).toEqual([
    "This field is required.",
    "This isn't a number.",
    "This isn't a whole number.",
    "At least 1.",
    "At most 9.",
    undefined,
  ]);
  expect(problemWith({ ...common, kind: "json" }, "{")).toBe("This isn't valid JSON.");
  expect(problemWith({ ...common, kind: "text", rows: 1, type: "text", maxLength: 3 }, "four")).toBe("At most 3 characters.");
  expect(problemWith({ ...common, kind: "text", rows: 1, type: "text", required: false }, "")).toBeUndefined();
});

test("cells show values in words", () => {
  expect([
    cellText("open", true),
    cellText("tags", ["a", "b"]),
    cellText("tags", []),
    cellText("count", 1234),
    cellText("locksAt", null),
    cellText("panel_type", "question_answer"),
  ]).toEqual(["Yes", "a, b", "–", "1,234", "–", "Question answer"]);
  // In whichever unit the API gives a time.
  expect(cellText("timeMinimum", 1_795_273_200)).toBe(cellText("created", 1_795_273_200_000));
});
