import type { Schemas } from "#sdk/client/index.ts";

// What the moderators' desk shows, as pure functions of what the API returns.

/** A message of the chat, with what the queue adds to it. */
export type Entry = Schemas["ChatMessage"] & Partial<Pick<Schemas["ChatQueueEntry"], "reports" | "category">> & { channelId: string };
export type Question = Schemas["Question"];
export type Ban = Schemas["ChatBan"];
export type BanInput = Schemas["ChatBanInput"];

/** The entries without those that were just decided on, which the server may still list for a moment. */
export function undecided<T extends { _id: string }>(entries: readonly T[], decided: ReadonlySet<string>): T[] {
  return entries.filter(({ _id }) => !decided.has(_id));
}

/**
 * What is selected once the list has changed: the same entry while it is there; else the one that has moved up to its place, so that a
 * moderator goes through the queue without choosing each entry.
 */
export function selectionAfter(before: readonly string[], now: readonly string[], selected: string | null): string | null {
  if (selected === null) return now[0] ?? null;
  if (now.includes(selected)) return selected;
  const following = before.slice(Math.max(0, before.indexOf(selected))).find((id) => now.includes(id));
  return following ?? now.at(-1) ?? null;
}

/** The entry that is `places` below or above the selected one. */
export function step(ids: readonly string[], selected: string | null, places: number): string | null {
  const at = selected === null ? -1 : ids.indexOf(selected);
  return ids[Math.min(ids.length - 1, Math.max(0, at + places))] ?? null;
}

/** The messages around one, oldest first: at most `each` before and after it. */
export function around<T extends { _id: string; sentAt: number }>(messages: readonly T[], id: string, each: number): T[] {
  const ordered = [...messages].sort((one, other) => one.sentAt - other.sentAt || (one._id < other._id ? -1 : 1));
  const at = ordered.findIndex(({ _id }) => _id === id);
  return at === -1 ? [] : ordered.slice(Math.max(0, at - each), at + each + 1);
}

export const DURATIONS = [
  { value: "600", text: "10 minutes" },
  { value: "3600", text: "1 hour" },
  { value: "86400", text: "1 day" },
  { value: "604800", text: "1 week" },
  { value: "", text: "Until it is lifted" },
] as const;

/** When a ban of that many seconds ends; null for one without an end. */
export function banEnd(seconds: string, now: number): number | null {
  return seconds === "" ? null : now + Number(seconds) * 1000;
}

export function isOver({ until }: Pick<Ban, "until">, now: number): boolean {
  return until !== null && until <= now;
}

/** How long ago it was, in a word. */
export function ago(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Why a message waits, in words. */
export function causeOf({ state, reports = [], category = null }: Pick<Entry, "state" | "reports" | "category">): string | null {
  const causes = [
    reports.length > 0 ? `Reported${reports.length > 1 ? ` by ${reports.length}` : ""}` : null,
    state === "held" ? (category === null ? "Held" : `Held: ${category}`) : null,
  ];
  const known = causes.filter((cause) => cause !== null);
  return known.length === 0 ? null : known.join(" · ");
}

/** The decisions that the server accepts for a question in this state. */
export function decisionsOf({ state }: Pick<Question, "state">): { approve: boolean; dismiss: boolean; answer: boolean; show: boolean } {
  return {
    approve: state === "submitted" || state === "dismissed" || state === "answered",
    dismiss: state !== "dismissed",
    answer: state === "submitted" || state === "approved" || state === "answered",
    show: state === "approved" || state === "answered",
  };
}
