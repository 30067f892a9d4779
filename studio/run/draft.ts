import { localTime } from "#studio/ui/local-time.ts";
import type { Item, ItemInput, Variables } from "./model.ts";

// The form of an item: every field of every kind, so that changing the kind loses nothing.

export const KINDS = ["broadcast", "poll", "quest", "raffle", "stream", "wait", "note"] as const;
export const KIND_NAMES: Record<Item["kind"], string> = {
  broadcast: "Overlay: show it",
  poll: "Poll: open, close or settle it",
  quest: "Quest: open or close it",
  raffle: "Raffle: draw winners",
  stream: "Stream: start or stop it",
  wait: "Wait, then take the next",
  note: "Note for the operators",
};

export interface Draft {
  kind: Item["kind"];
  name: string;
  notes: string;
  /** Local time of the form's field; empty for none. */
  at: string;
  /** The overlay, poll, quest or stream. */
  targetId: string;
  action: string;
  variables: Variables;
  /** Seconds of a broadcast; empty for the overlay's own. */
  duration: string;
  seconds: string;
  winners: string;
  correctAnswerId: string;
}

export type Problems = Partial<Record<keyof Draft, string>>;

const EMPTY: Draft = {
  kind: "broadcast",
  name: "",
  notes: "",
  at: "",
  targetId: "",
  action: "open",
  variables: {},
  duration: "",
  seconds: "10",
  winners: "1",
  correctAnswerId: "",
};

export function draftOf(item: Item | null): Draft {
  if (!item) return EMPTY;
  const common = { ...EMPTY, kind: item.kind, name: item.name, notes: item.notes, at: item.at === null ? "" : localTime(item.at) };
  switch (item.kind) {
    case "broadcast":
      return {
        ...common,
        targetId: item.overlayId,
        variables: item.broadcast?.variables ?? {},
        duration: String(item.broadcast?.duration ?? ""),
      };
    case "poll":
      return { ...common, targetId: item.pollId, action: item.action, correctAnswerId: item.correctAnswerId ?? "" };
    case "quest":
      return { ...common, targetId: item.questId, action: item.action };
    case "raffle":
      return { ...common, targetId: item.questId, winners: String(item.winners) };
    case "stream":
      return { ...common, targetId: item.streamId, action: item.action };
    case "wait":
      return { ...common, seconds: String(item.seconds) };
    case "note":
      return common;
  }
}

const NEEDS_TARGET: readonly Item["kind"][] = ["broadcast", "poll", "quest", "raffle", "stream"];

export function problemsOf(draft: Draft, now: number): Problems {
  const problems: Problems = {};
  if (draft.name.trim() === "") problems.name = "Give it a name.";
  if (NEEDS_TARGET.includes(draft.kind) && draft.targetId === "") problems.targetId = "Choose one.";
  if (draft.kind === "wait" && !isWhole(draft.seconds, 1, 86_400)) problems.seconds = "A whole number of seconds, at most a day.";
  if (draft.kind === "raffle" && !isWhole(draft.winners, 1, 1_000)) problems.winners = "A whole number from 1 to 1,000.";
  if (draft.kind === "broadcast" && draft.duration !== "" && !isWhole(draft.duration, 1, 86_400))
    problems.duration = "A whole number of seconds, at most a day.";
  if (draft.at !== "" && Number.isNaN(Date.parse(draft.at))) problems.at = "This isn't a time.";
  else if (draft.at !== "" && Date.parse(draft.at) <= now) problems.at = "This time has passed.";
  return problems;
}

/** The item as it is saved. What the form doesn't show stays as it was. */
export function inputOf(draft: Draft, item: Item | null): ItemInput {
  const common = {
    ...(item && { _id: item._id }),
    name: draft.name.trim(),
    notes: draft.notes,
    at: draft.at === "" ? null : Date.parse(draft.at),
  };
  switch (draft.kind) {
    case "broadcast":
      return { ...common, kind: "broadcast", overlayId: draft.targetId, broadcast: broadcastOf(draft, item) };
    case "poll": {
      const action = draft.action === "settle" || draft.action === "close" ? draft.action : "open";
      const correctAnswerId = action === "settle" && draft.correctAnswerId !== "" ? draft.correctAnswerId : null;
      return { ...common, kind: "poll", pollId: draft.targetId, action, correctAnswerId };
    }
    case "quest":
      return { ...common, kind: "quest", questId: draft.targetId, action: draft.action === "close" ? "close" : "open" };
    case "raffle":
      return { ...common, kind: "raffle", questId: draft.targetId, winners: Number(draft.winners) };
    case "stream":
      return { ...common, kind: "stream", streamId: draft.targetId, action: draft.action === "stop" ? "stop" : "start" };
    case "wait":
      return { ...common, kind: "wait", seconds: Number(draft.seconds) };
    case "note":
      return { ...common, kind: "note" };
  }
}

function broadcastOf({ variables, duration, targetId }: Draft, item: Item | null) {
  const kept = item?.kind === "broadcast" && item.overlayId === targetId ? item.broadcast : undefined;
  const { timecode, tagId, segment, priority = 0, broadcastPayload } = kept ?? {};
  return {
    ...(timecode !== undefined && { timecode }),
    ...(tagId !== undefined && { tagId }),
    ...(segment !== undefined && { segment }),
    ...(broadcastPayload && { broadcastPayload }),
    priority,
    ...(duration !== "" && { duration: Number(duration) }),
    ...(Object.keys(variables).length > 0 && { variables }),
  };
}

function isWhole(text: string, least: number, most: number): boolean {
  const number = Number(text);
  return /^\d+$/.test(text.trim()) && number >= least && number <= most;
}
