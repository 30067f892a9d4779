import { expect, test } from "vitest";
import type { RundownItem } from "#db/types.ts";
import { dueItems, endsSomething, itemAfter, lastKept, nextItem, nextTime, timeAfterEdit } from "./steps.ts";

const item = (_id: string, kind: "note" | "wait" = "wait", at: number | null = null): RundownItem => {
  const base = { _id, name: _id, notes: "", at };
  return kind === "note" ? { ...base, kind } : { ...base, kind, seconds: 1 };
};
const [a, b, c] = [item("a"), item("b"), item("c")];
const ids = (items: (RundownItem | undefined)[]) => items.map((each) => each?._id);

test("the following item is the next that isn't a note, and the first before anything was taken", () => {
  const items = [item("n", "note"), a, item("m", "note"), b];
  expect(ids([itemAfter(items, null), itemAfter(items, "a"), itemAfter(items, "m"), itemAfter(items, "b")])).toEqual([
    "a",
    "b",
    "b",
    undefined,
  ]);
});

test("the armed item comes next, unless it is gone", () => {
  expect(nextItem({ items: [a, b, c], lastItemId: "a", armedItemId: "c" })).toBe(c);
  expect(nextItem({ items: [a, b], lastItemId: "a", armedItemId: "c" })).toBe(b);
});

test("after an edit, the position is the closest item before it that is still there", () => {
  expect(lastKept([a, b, c], "c", [b, a])).toBe("b");
  expect(lastKept([a, b, c], "b", [c])).toBeNull();
  expect(lastKept([a, b, c], null, [a])).toBeNull();
});

test("the next time is the earliest after now", () => {
  expect(nextTime([item("a", "wait", 5), item("b", "wait", 9), item("c", "wait", 7)], 5)).toBe(7);
  expect(nextTime([item("a", "wait", 5)], 5)).toBeNull();
});

test("an edit loses no time that passes in the same moment, and revives none that has passed before", () => {
  const [old, due] = [item("a", "wait", 5), item("b", "wait", 9)];
  const before = { items: [old, due], timedAt: 9 };
  expect(timeAfterEdit(before, [old, due], 10)).toBe(9);
  expect(timeAfterEdit(before, [old, item("b", "wait", 8)], 10)).toBeNull();
  expect(timeAfterEdit({ ...before, timedAt: null }, [old, due], 10)).toBeNull();
  expect(timeAfterEdit(before, [due, item("c", "wait", 20)], 3)).toBe(9);
});

test("items that are due are taken in the order of their times, then of the list", () => {
  const items = [item("a", "wait", 7), item("b", "wait", 5), item("c", "wait", 7), item("d", "wait", 8), item("e", "wait", 4)];
  expect(ids(dueItems(items, 5, 7))).toEqual(["b", "a", "c"]);
});

test("what closes, settles or stops ends something, however late; what opens, starts or shows doesn't", () => {
  const base = { _id: "x", name: "x", notes: "", at: null };
  const poll = (action: "open" | "close" | "settle"): RundownItem => ({
    ...base,
    kind: "poll",
    pollId: "p",
    action,
    correctAnswerId: null,
  });
  const quest = (action: "open" | "close"): RundownItem => ({ ...base, kind: "quest", questId: "q", action });
  const stream = (action: "start" | "stop"): RundownItem => ({ ...base, kind: "stream", streamId: "s", action });
  const ending = [poll("close"), poll("settle"), quest("close"), stream("stop")];
  const show: RundownItem = { ...base, kind: "broadcast", overlayId: "o", broadcast: {} };
  const draw: RundownItem = { ...base, kind: "raffle", questId: "q", winners: 1 };
  const other = [poll("open"), quest("open"), stream("start"), show, draw, item("n", "note"), a];
  expect([ending.map(endsSomething), other.map(endsSomething)]).toEqual([ending.map(() => true), other.map(() => false)]);
});

test("a time at this very moment is taken after an edit only if it was there before", () => {
  const now = 5_000;
  const timed = item("t", "wait", now);
  expect(timeAfterEdit({ items: [timed], timedAt: now }, [timed], now)).toBe(now);
  expect(timeAfterEdit({ items: [], timedAt: now }, [timed], now)).toBeNull();
});
