import { expect, test } from "vitest";
import { decide } from "#worker/services/qna/question-state.ts";
import { QUESTION_STATES } from "#db/enums.ts";
import { ago, around, banEnd, causeOf, decisionsOf, isOver, selectionAfter, step, undecided } from "./desk.ts";

const IDS = ["a", "b", "c"];
const message = (id: string, sentAt: number) => ({ _id: id, sentAt });

test("a decided message is left out, although the server still lists it", () => {
  expect(undecided([message("a", 1), message("b", 2)], new Set(["a"]))).toEqual([message("b", 2)]);
});

test("the selection stays on its message when others arrive or leave", () => {
  expect(selectionAfter(IDS, ["x", "b", "c", "d"], "b")).toBe("b");
});

test("once its message has left the queue, the selection is on the next one, and at the end on the last", () => {
  expect(selectionAfter(IDS, ["a", "c"], "b")).toBe("c");
  expect(selectionAfter(IDS, ["a", "b"], "c")).toBe("b");
  expect(selectionAfter(IDS, [], "c")).toBeNull();
});

test("without a selection, the message that has waited longest is selected", () => {
  expect(selectionAfter([], IDS, null)).toBe("a");
  expect(selectionAfter(["gone"], IDS, "gone")).toBe("c");
});

test("steps through the queue end at its ends", () => {
  expect([step(IDS, "a", 1), step(IDS, "c", 1), step(IDS, "a", -1), step(IDS, null, 1), step([], "a", 1)]).toEqual([
    ...["b", "c", "a", "a"],
    null,
  ]);
});

test("the context of a message is what was sent before and after it, oldest first", () => {
  const messages = [5, 4, 3, 2, 1].map((at) => message(`m${at}`, at));
  expect(around(messages, "m3", 1).map(({ _id }) => _id)).toEqual(["m2", "m3", "m4"]);
  expect(around(messages, "m1", 2).map(({ _id }) => _id)).toEqual(["m1", "m2", "m3"]);
  expect(around(messages, "another room's", 2)).toEqual([]);
});

test("a ban has an end unless it is for good", () => {
  expect([banEnd("60", 1_000), banEnd("", 1_000)]).toEqual([61_000, null]);
  expect([isOver({ until: 1_000 }, 1_000), isOver({ until: 1_001 }, 1_000), isOver({ until: null }, 1_000)]).toEqual([true, false, false]);
});

test("says in words how long a message waits and why", () => {
  expect([0, 59_400, 60_000, 7_200_000, 172_800_000].map((now) => ago(0, now))).toEqual(["0 s", "59 s", "1 min", "2 h", "2 d"]);
  const report = { accountId: null, reason: "Rude", reportedAt: 1 };
  expect(causeOf({ state: "visible", reports: [report, report], category: null })).toBe("Reported by 2");
  expect(causeOf({ state: "held", reports: [], category: "harassment" })).toBe("Held: harassment");
  expect(causeOf({ state: "visible" })).toBeNull();
});

test("offers exactly the decisions on a question that the server accepts", () => {
  for (const state of QUESTION_STATES) {
    const current = { state, answer: state === "answered" ? "Yes" : null, mergedInto: null };
    const allows = (next: "approved" | "dismissed" | "answered") =>
      decide(current, { state: next, answer: next === "answered" ? "No" : null, mergedInto: null }) === "change";
    expect({ state, ...decisionsOf({ state }) }).toMatchObject({
      ...{ approve: allows("approved"), dismiss: allows("dismissed"), answer: allows("answered") },
    });
  }
});
