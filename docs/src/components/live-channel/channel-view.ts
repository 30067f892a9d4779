import type { ServerFrame, ViewerFrame } from "#sdk/channel/index.ts";
import { questIn, type QuestUpdate, type Tally, tallyIn } from "./engagement.ts";

/** One line of the frame log. */
export interface LogEntry {
  id: number;
  /** Milliseconds since 1970, this browser's clock. */
  at: number;
  sent: boolean;
  type: string;
  seq: number | undefined;
  detail: string;
}

/** What the page shows from frames; everything else comes from the event's state. */
export interface ChannelView {
  /** Of the poll that was last answered. */
  tally: Tally | undefined;
  /** The quest that last changed. */
  quest: QuestUpdate | undefined;
  log: LogEntry[];
}

export type ChannelEvent = { kind: "frame"; frame: ServerFrame; at: number } | { kind: "sent"; frame: ViewerFrame; at: number };

export const LOG_LENGTH = 20;
export const EMPTY_VIEW: ChannelView = { tally: undefined, quest: undefined, log: [] };

/** What the page shows after `event`. */
export function nextView(view: ChannelView, event: ChannelEvent): ChannelView {
  const { kind, at, frame } = event;
  const detail = kind === "frame" ? detailOf(event.frame) : "";
  const log = appendEntry(view.log, { at, sent: kind === "sent", type: frame.type, seq: "seq" in frame ? frame.seq : undefined, detail });
  switch (frame.type) {
    case "poll.updated":
      return { ...view, log, tally: tallyIn(frame.data) ?? view.tally };
    case "quest.updated":
      return { ...view, log, quest: questIn(frame.data) ?? view.quest };
    default:
      return { ...view, log };
  }
}

function appendEntry(log: LogEntry[], entry: Omit<LogEntry, "id">): LogEntry[] {
  const id = (log[0]?.id ?? 0) + 1;
  return [{ id, ...entry }, ...log].slice(0, LOG_LENGTH);
}

function detailOf(frame: ServerFrame): string {
  switch (frame.type) {
    case "welcome":
      return frame.recovered ? "resumed" : `${frame.overlays.length} active`;
    case "overlay.show":
      return `${Math.round((frame.endsAt - frame.startsAt) / 1000)} s at ${frame.position}`;
    case "overlay.clear":
      return frame.broadcastIds.length === 1 ? "1 overlay" : `${frame.broadcastIds.length} overlays`;
    case "concurrents":
      return frame.count === 1 ? "1 viewer" : `${frame.count} viewers`;
    case "error":
      return frame.message;
    default:
      return "";
  }
}
