import { describe, expect, test } from "vitest";
import {
  changed,
  count,
  entriesOf,
  type Entry,
  find,
  inserted,
  moved,
  newEntry,
  parentsOf,
  placeOf,
  shifted,
  type StoredEntry,
  without,
} from "./tree.ts";

const PAGE = "5eed0000000000000000c001";
const folder = (name: string, ...children: StoredEntry[]): StoredEntry => ({
  type: "folder" as const,
  name,
  private: false,
  ...(children.length > 0 && { children }),
});
const STORED: StoredEntry[] = [
  folder("A", folder("B", folder("C", folder("D")))),
  folder("E"),
  { type: "channel" as const, pageId: PAGE, private: true },
];
const entries = entriesOf(STORED);
/** For example "A(B(C(D))) E channel". */
const shapeOf = (list: readonly Entry[] | null): string =>
  list?.map(({ name, type, children }) => (name || type) + (children.length > 0 ? `(${shapeOf(children)})` : "")).join(" ") ?? "none";
const keyOf = (name: string, list: readonly Entry[] = entries): string =>
  list.reduce((key, entry) => key || (entry.name === name ? entry.key : keyOf(name, entry.children)), "");

describe("the entries of a navigation", () => {
  test("come back as they were read, four levels deep", () => {
    expect(parentsOf(entries)).toEqual(STORED);
    expect(count(entries)).toBe(6);
  });

  test("are sent without the page of what has become a folder, and without an empty name", () => {
    const list = [
      { ...newEntry("folder"), pageId: PAGE, name: " Live " },
      { ...newEntry("channel"), pageId: PAGE, name: " " },
    ];
    expect(parentsOf(list)).toEqual([
      { type: "folder", name: "Live", private: false },
      { type: "channel", pageId: PAGE, private: false },
    ]);
  });

  test.for([
    ["E", "A", "before", "E A(B(C(D))) channel"],
    ["E", "B", "after", "A(B(C(D)) E) channel"],
    ["E", "C", "on", "A(B(C(D E))) channel"],
    ["D", "E", "on", "A(B(C)) E(D) channel"],
    ["B", "E", "on", "A E(B(C(D))) channel"],
  ] as const)("move: %s to %s, %s", ([name, target, place, shape]) => {
    expect(shapeOf(moved(entries, keyOf(name), keyOf(target), place))).toBe(shape);
  });

  test.for([
    ["A", "C", "on"],
    ["A", "A", "after"],
    ["E", "D", "on"],
    ["A", "E", "on"],
  ] as const)("don't move %s to %s (%s), which is below itself or a fifth level", ([name, target, place]) => {
    expect(moved(entries, keyOf(name), keyOf(target), place)).toBeNull();
  });

  test("don't take a new entry on a fifth level", () => {
    expect(inserted(entries, newEntry("folder"), keyOf("D"), "on")).toBeNull();
    expect(shapeOf(inserted(entries, newEntry("folder"), keyOf("E"), "on"))).toBe("A(B(C(D))) E(New folder) channel");
  });

  test.for([
    ["E", "up", "E A(B(C(D))) channel"],
    ["E", "down", "A(B(C(D))) channel E"],
    ["E", "in", "A(B(C(D)) E) channel"],
    ["A", "down", "E A(B(C(D))) channel"],
    ["C", "out", "A(B C(D)) E channel"],
    ["A", "up", "none"],
    ["A", "in", "none"],
    ["A", "out", "none"],
    ["B", "down", "none"],
  ] as const)("%s goes %s", ([name, direction, shape]) => {
    expect(shapeOf(shifted(entries, keyOf(name), direction))).toBe(shape);
  });

  test("change and go wherever they are", () => {
    const hidden = changed(entries, keyOf("D"), { private: true });
    expect(find(hidden, keyOf("D"))?.private).toBe(true);
    expect(find(entries, keyOf("D"))?.private).toBe(false);
    expect(shapeOf(without(entries, keyOf("B")))).toBe("A E channel");
  });

  test("are found by the path of an issue", () => {
    expect(placeOf(entries, "parents.0.children.0.children.0.name")).toEqual({ key: keyOf("C"), field: "name" });
    expect(placeOf(entries, "parents.1")).toEqual({ key: keyOf("E"), field: "" });
    for (const other of ["name", "parents", "parents.9.name", "externalLinks.0.url"]) expect(placeOf(entries, other)).toBeNull();
  });
});
