import { describe, expect, test } from "vitest";
import {
  countdown,
  coverage,
  itemToArm,
  latestOnAir,
  mergeLog,
  nextOf,
  receiptInterval,
  stateOf,
  undoable,
  withCount,
  withHistory,
} from "./desk.ts";
import type { AsRunEntry, Item, Rundown, Take } from "./model.ts";

const NOW = 1_000_000;

const note = (id: string): Item => ({ _id: id, kind: "note", name: id, notes: "", at: null });
const wait = (id: string): Item => ({ ...note(id), kind: "wait", seconds: 10 });

function take(change: Partial<Take> = {}): Take {
  const by = { kind: "account" as const, id: "o", name: "Olga" };
  return {
    ...{ _id: "t", rundownId: "r", channelId: "c", generation: 0, itemId: "a", kind: "broadcast", action: null, name: "Goal" },
    ...{ targetId: "g", trigger: "operator", by, takenAt: NOW, state: "done", message: null, endsAt: NOW + 8_000 },
    ...{ clearedAt: null, clearedBy: null },
    ...change,
  };
}

function rundown(change: Partial<Rundown> = {}): Rundown {
  return {
    ...{ _id: "r", siteId: "s", channelId: "c", name: "Derby", generation: 1, held: false, created: 0, modified: 0, itemCount: 4 },
    ...{ items: [wait("a"), wait("b"), note("n"), wait("c")], lastItemId: "a", armedItemId: null, nextItemId: "b" },
    ...{ waitsUntil: null, onAir: [], operators: [], brokenItemIds: [] },
    ...change,
  };
}

const entry = (change: Partial<AsRunEntry> = {}): AsRunEntry => ({ ...take(), receipt: null, isFinal: false, ...change });

describe("the rundown on the desk", () => {
  test("takes what the server calls next, and Next arms what follows it, except notes", () => {
    expect(nextOf(rundown())?._id).toBe("b");
    expect(itemToArm(rundown())?._id).toBe("c");
    expect(itemToArm(rundown({ nextItemId: "c" }))).toBeUndefined();
    expect(nextOf(rundown({ nextItemId: null }))).toBeUndefined();
  });

  test("says of each item what matters most", () => {
    const show = rundown({ onAir: [take({ itemId: "b" })], armedItemId: "c", waitsUntil: NOW + 1 });
    expect(show.items.map((item) => stateOf(show, item, NOW))).toEqual(["waiting", "onAir", null, "armed"]);
    expect(stateOf(rundown({ lastItemId: "n" }), note("n"), NOW)).toBe("taken");
    expect(stateOf(rundown({ onAir: [take({ endsAt: NOW })] }), wait("b"), NOW)).toBe("next");
  });

  test("clears the latest broadcast that is still on air", () => {
    const onAir = [
      take({ _id: "old", generation: 1 }),
      take({ _id: "new", generation: 3 }),
      take({ _id: "gone", generation: 9, endsAt: NOW }),
    ];
    expect(latestOnAir(rundown({ onAir }), NOW)?._id).toBe("new");
    expect(latestOnAir(rundown(), NOW)).toBeUndefined();
  });
});

describe("a take", () => {
  test("can be undone for 5 seconds, if it shows something that wasn't cleared", () => {
    expect(undoable({ take: take(), at: NOW }, NOW + 4_999)?.leftMs).toBe(1);
    expect(undoable({ take: take(), at: NOW }, NOW + 5_000)).toBeNull();
    expect(undoable({ take: take({ kind: "poll" }), at: NOW }, NOW)).toBeNull();
    expect(undoable({ take: take({ clearedAt: NOW }), at: NOW }, NOW)).toBeNull();
    expect(undoable(null, NOW)).toBeNull();
  });
});

describe("receipts", () => {
  test("are read every second while viewers acknowledge, and rarely when all are final", () => {
    expect(receiptInterval([entry()], NOW + 1_000)).toBe(1_000);
    expect(receiptInterval([entry()], NOW + 60_000)).toBe(5_000);
    expect(receiptInterval([entry({ isFinal: true }), entry({ kind: "note" })], NOW)).toBe(30_000);
    expect(receiptInterval([], NOW)).toBe(30_000);
  });

  test("show the share of viewers that have it", () => {
    const counts = { sockets: 4, sent: 4, acknowledged: 3, seen: null, late: 0, missing: 1, delay: { p50: 1, p95: 1, p99: 1 } };
    expect(coverage(entry({ receipt: counts }))).toBe(0.75);
    expect(coverage(entry({ receipt: { ...counts, sent: 0 } }))).toBeNull();
    expect(coverage(entry())).toBeNull();
  });
});

describe("the chart", () => {
  test("has the peak of each minute, and keeps the last ones", () => {
    const first = withCount(withCount(withCount([], 3, 60_000), 5, 61_000), 2, 62_000);
    expect(first).toEqual([{ at: 60_000, peak: 5 }]);
    expect(withCount(first, 1, 120_000, 1)).toEqual([{ at: 120_000, peak: 1 }]);
  });
});

test("a countdown is in minutes and whole seconds, and ends", () => {
  expect([countdown(NOW + 61_001, NOW), countdown(NOW + 1, NOW), countdown(NOW, NOW), countdown(null, NOW)]).toEqual([
    "1:02",
    "0:01",
    null,
    null,
  ]);
});

test("the chart starts with the minutes that the server knows, and keeps the last ones", () => {
  const history = [
    { at: 0, peak: 5 },
    { at: 60_000, peak: 9 },
  ];
  const seen = [
    { at: 60_000, peak: 7 },
    { at: 120_000, peak: 8 },
  ];
  expect(withHistory(history, seen)).toEqual([
    { at: 0, peak: 5 },
    { at: 60_000, peak: 9 },
    { at: 120_000, peak: 8 },
  ]);
  expect(withHistory(history, seen, 2).map(({ at }) => at)).toEqual([60_000, 120_000]);
});

test("the log has each take once, as it was read last, newest first", () => {
  const [first, second] = [entry({ _id: "1", takenAt: 1 }), entry({ _id: "2", takenAt: 2 })];
  const final = { ...second, isFinal: true };
  expect(mergeLog([second, first], [entry({ _id: "3", takenAt: 3 }), final]).map(({ _id, isFinal }) => [_id, isFinal])).toEqual([
    ["3", false],
    ["2", true],
    ["1", false],
  ]);
});
