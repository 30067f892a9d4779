import { expect, test } from "vitest";
import { cellText } from "./cell.tsx";
import { differences } from "./differences.ts";
import { knownValues } from "./known-values.ts";
import { nameOf } from "./resource.ts";
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
    cellText("recurrence", "month"),
    cellText("subscriptionProvider", "stripe"),
    cellText("name", "month"),
    cellText("locksAt", null),
    cellText("panel_type", "question_answer"),
  ]).toEqual(["Yes", "a, b", "–", "1,234", "Monthly", "Stripe", "month", "–", "Questions and answers"]);
  // In whichever unit the API gives a time.
  expect(cellText("timeMinimum", 1_795_273_200)).toBe(cellText("created", 1_795_273_200_000));
});

test("an item without a name is called by what else is its own, never by its id", () => {
  const account = { columns: ["name", "email"], singular: "account" };
  const items = [{ name: "Ada", email: "ada@fans.example" }, { name: "", email: "ada@fans.example" }, { _id: "5eed0000000000000000a001" }];
  expect(items.map((item) => nameOf(account, item))).toEqual(["Ada", "ada@fans.example", "Unnamed account"]);
});

test("time zones and currencies are chosen from those that exist", () => {
  const valuesOf = (name: string, current = "") => knownValues({ name }, current)?.map(({ value }) => value);
  expect(valuesOf("timeZone")).toEqual(expect.arrayContaining(["Europe/London", "UTC"]));
  expect(valuesOf("timeZone", "Mars/Olympus")?.[0]).toBe("Mars/Olympus");
  expect(knownValues({ name: "presentmentCurrency" }, "gbp")).toContainEqual({ value: "gbp", text: "GBP – British Pound" });
  expect(valuesOf("name")).toBeUndefined();
});
