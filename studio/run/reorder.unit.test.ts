import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Item } from "./model.ts";
import { copyOf, isSameOrder, moveBy, moveItems, withoutItem } from "./reorder.ts";

const item = (id: string): Item => ({ _id: id, kind: "note", name: id, notes: "", at: null });
const items = (ids: string): Item[] => [...ids].map(item);
const idsOf = (list: readonly Item[]): string => list.map(({ _id }) => _id).join("");

describe("moving items", () => {
  test.each([
    ["a", "c", "before", "bacd"],
    ["a", "c", "after", "bcad"],
    ["d", "a", "before", "dabc"],
    ["ca", "d", "after", "bdac"],
    ["b", "b", "before", "abcd"],
  ] as const)("of %s to %s, %s, gives %s", (moved, target, place, expected) => {
    expect(idsOf(moveItems(items("abcd"), new Set(moved), target, place))).toBe(moved === target ? "abcd" : expected);
  });

  test.each([
    ["b", 1, "acbd"],
    ["b", -1, "bacd"],
    ["a", -1, "abcd"],
    ["d", 5, "abcd"],
    ["a", 9, "bcda"],
    ["x", 1, "abcd"],
  ] as const)("of %s by %i gives %s", (id, places, expected) => {
    expect(idsOf(moveBy(items("abcd"), id, places))).toBe(expected);
  });

  test("loses and doubles nothing, whatever is moved where", () => {
    const all = items("abcdefgh");
    const id = fc.constantFrom(...all.map(({ _id }) => _id));
    fc.assert(
      fc.property(fc.uniqueArray(id), id, fc.constantFrom("before", "after"), fc.integer(), (moved, target, place, places) => {
        for (const next of [moveItems(all, new Set(moved), target, place), moveBy(all, target, places)])
          expect(next.map(({ _id }) => _id).sort()).toEqual(all.map(({ _id }) => _id));
      }),
    );
  });

  test("leaves a copy without the id and the time of the original", () => {
    expect(copyOf({ ...item("a"), at: 5 })).toEqual({ kind: "note", name: "a", notes: "", at: null });
  });

  test("is nothing to save if the order is the same", () => {
    expect(isSameOrder(items("ab"), items("ab"))).toBe(true);
    expect(isSameOrder(items("ab"), items("ba"))).toBe(false);
    expect(isSameOrder(items("ab"), withoutItem(items("ab"), "a"))).toBe(false);
  });
});
