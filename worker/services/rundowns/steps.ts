import type { RundownItem } from "#db/types.ts";

// The order of a show, as pure functions of its items.

/** The item that follows, which isn't a note; the first one, if none was taken yet or the last one is gone. */
export function itemAfter(items: RundownItem[], lastItemId: string | null): RundownItem | undefined {
  const last = items.findIndex(({ _id }) => _id === lastItemId);
  return items.slice(last + 1).find(({ kind }) => kind !== "note");
}

/** What a take without an item takes. */
export function nextItem(rundown: {
  items: RundownItem[];
  lastItemId: string | null;
  armedItemId: string | null;
}): RundownItem | undefined {
  const armed = rundown.items.find(({ _id }) => _id === rundown.armedItemId);
  return armed ?? itemAfter(rundown.items, rundown.lastItemId);
}

/** The last taken item or, if it is no longer among the items, the closest one before it that still is. */
export function lastKept(before: RundownItem[], lastItemId: string | null, after: RundownItem[]): string | null {
  const kept = new Set(after.map(({ _id }) => _id));
  const taken = before.slice(0, before.findIndex(({ _id }) => _id === lastItemId) + 1);
  return taken.findLast(({ _id }) => kept.has(_id))?._id ?? null;
}

/** The earliest time after `now` at which an item is taken (ms). */
export function nextTime(items: RundownItem[], now: number): number | null {
  return earliest(items.map(({ at }) => at).filter((at) => at !== null && at > now));
}

/** The earliest time after an edit: one that passes in this moment still counts if the item and its time were there before. */
export function timeAfterEdit(before: { items: RundownItem[]; timedAt: number | null }, items: RundownItem[], now: number): number | null {
  const known = new Set(before.items.map(timeKey));
  const isPending = (item: RundownItem): boolean => before.timedAt !== null && (item.at ?? 0) >= before.timedAt && known.has(timeKey(item));
  return earliest(items.filter((item) => item.at !== null && (item.at > now || isPending(item))).map(({ at }) => at));
}

/** The items whose time has come, in the order in which they are taken. */
export function dueItems(items: RundownItem[], from: number, now: number): RundownItem[] {
  return items.filter(({ at }) => at !== null && at >= from && at <= now).sort((one, other) => (one.at ?? 0) - (other.at ?? 0));
}

/** Identifies an item's time, which takes it once. */
export function timeKey({ _id, at }: RundownItem): string {
  return `${_id}@${at}`;
}

/** What ends something is done however late it is. */
export function endsSomething(item: RundownItem): boolean {
  if (item.kind === "stream") return item.action === "stop";
  return (item.kind === "poll" || item.kind === "quest") && item.action !== "open";
}

export function targetOf(item: RundownItem): string | null {
  switch (item.kind) {
    case "broadcast":
      return item.overlayId;
    case "poll":
      return item.pollId;
    case "quest":
    case "raffle":
      return item.questId;
    case "stream":
      return item.streamId;
    case "wait":
    case "note":
      return null;
  }
}

function earliest(times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
