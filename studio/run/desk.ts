import type { AsRunEntry, Item, Rundown, Take } from "./model.ts";

// What the desk shows, as pure functions of the rundown, its log and the time.

/** How long a take can be undone. */
export const UNDO_MS = 5_000;

/** The item that a take without a choice would take. */
export function nextOf(rundown: Rundown): Item | undefined {
  return rundown.items.find(({ _id }) => _id === rundown.nextItemId);
}

/** The item after the one that would be taken, which "Next" arms instead. */
export function itemToArm({ items, nextItemId }: Rundown): Item | undefined {
  const at = items.findIndex(({ _id }) => _id === nextItemId);
  return items.slice(at + 1).find(({ kind }) => kind !== "note");
}

export type ItemState = "onAir" | "next" | "armed" | "taken" | "waiting" | null;

/** What an item is doing, in the order of importance. */
export function stateOf({ onAir, armedItemId, nextItemId, lastItemId, waitsUntil }: Rundown, item: Item, now: number): ItemState {
  if (onAir.some(({ itemId, endsAt }) => itemId === item._id && (endsAt ?? 0) > now)) return "onAir";
  if (item._id === armedItemId) return "armed";
  if (item.kind === "wait" && item._id === lastItemId && waitsUntil !== null) return "waiting";
  if (item._id === nextItemId) return "next";
  return item._id === lastItemId ? "taken" : null;
}

export const STATE_NAMES: Record<NonNullable<ItemState>, string> = {
  onAir: "On air",
  next: "Next",
  armed: "Armed",
  taken: "Taken last",
  waiting: "Waiting",
};

/** The broadcast that was taken last and is still on air: what "Clear" clears. */
export function latestOnAir({ onAir }: Rundown, now: number): Take | undefined {
  return onAir.filter(({ endsAt }) => (endsAt ?? 0) > now).sort((one, other) => other.generation - one.generation)[0];
}

/** What can still be undone, and for how long (ms): a broadcast that this operator has just taken. */
export function undoable(taken: { take: Take; at: number } | null, now: number): { take: Take; leftMs: number } | null {
  if (!taken || taken.take.kind !== "broadcast" || taken.take.clearedAt !== null) return null;
  const leftMs = taken.at + UNDO_MS - now;
  return leftMs > 0 ? { take: taken.take, leftMs } : null;
}

/** How soon the receipts are worth reading again (ms): while viewers acknowledge, they change every moment. */
export function receiptInterval(log: readonly AsRunEntry[], now: number): number {
  const changing = log.filter(({ kind, isFinal }) => kind === "broadcast" && !isFinal);
  if (changing.some(({ takenAt }) => now - takenAt < 30_000)) return 1_000;
  return changing.length > 0 ? 5_000 : 30_000;
}

/** The share of sockets that have acknowledged, 0 to 1; null before anything was sent. */
export function coverage({ receipt }: AsRunEntry): number | null {
  return receipt && receipt.sent > 0 ? Math.min(1, receipt.acknowledged / receipt.sent) : null;
}

export interface Minute {
  at: number;
  peak: number;
}

/** How many minutes the chart shows. */
export const KEPT_MINUTES = 60;

/** Adds a count to the minutes of the chart, which keeps the last `kept`. */
export function withCount(minutes: readonly Minute[], count: number, now: number, kept = KEPT_MINUTES): Minute[] {
  const at = now - (now % 60_000);
  const last = minutes.at(-1);
  if (last?.at === at) return last.peak >= count ? [...minutes] : [...minutes.slice(0, -1), { at, peak: count }];
  return [...minutes, { at, peak: count }].slice(-kept);
}

/** The minutes since the screen was opened, after those that the server knows. In a minute that both know, the higher peak counts. */
export function withHistory(history: readonly Minute[], minutes: readonly Minute[], kept = KEPT_MINUTES): Minute[] {
  const known = new Map(history.map(({ at, peak }) => [at, peak]));
  for (const { at, peak } of minutes) known.set(at, Math.max(peak, known.get(at) ?? 0));
  return [...known]
    .map(([at, peak]) => ({ at, peak }))
    .sort((one, other) => one.at - other.at)
    .slice(-kept);
}

/** The log with a page of it, newest first; what was read last is the truth. */
export function mergeLog(known: readonly AsRunEntry[], page: readonly AsRunEntry[]): AsRunEntry[] {
  const entries = new Map([...known, ...page].map((entry) => [entry._id, entry]));
  return [...entries.values()].sort((one, other) => other.takenAt - one.takenAt || other.generation - one.generation);
}

/** Seconds until a time, as `m:ss`; null if it has passed. */
export function countdown(until: number | null, now: number): string | null {
  if (until === null || until <= now) return null;
  const seconds = Math.ceil((until - now) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
