import type { Item, ItemInput } from "./model.ts";

// Changes of a rundown's items, as pure functions. A new item has no `_id` until it is saved.

/** Moves the items with these ids next to another one, in their own order. */
export function moveItems(items: readonly Item[], ids: ReadonlySet<string>, targetId: string, place: "before" | "after"): Item[] {
  const moved = items.filter(({ _id }) => ids.has(_id));
  const others = items.filter(({ _id }) => !ids.has(_id));
  const target = others.findIndex(({ _id }) => _id === targetId);
  if (target === -1) return [...items];
  const at = place === "before" ? target : target + 1;
  return [...others.slice(0, at), ...moved, ...others.slice(at)];
}

/** Moves an item by some places, at most to the start or the end. */
export function moveBy(items: readonly Item[], id: string, places: number): Item[] {
  const from = items.findIndex(({ _id }) => _id === id);
  const item = items[from];
  if (!item) return [...items];
  const others = items.filter((other) => other !== item);
  const to = Math.min(others.length, Math.max(0, from + places));
  return [...others.slice(0, to), item, ...others.slice(to)];
}

/** A new item that does the same. Its time would be the same moment, so it has none. */
export function copyOf(item: Item): ItemInput {
  const copy: ItemInput = { ...item, at: null };
  delete copy._id;
  return copy;
}

export function withoutItem(items: readonly Item[], id: string): Item[] {
  return items.filter(({ _id }) => _id !== id);
}

/** Whether the order of items differs, which is all that a move changes. */
export function isSameOrder(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every(({ _id }, index) => other[index]?._id === _id);
}
