import type { ConnectionState, OverlayShow, ServerFrame, ViewerFrame } from "../../../../sdk/channel/index.ts";
import { questIn, type QuestNews, type Tally, tallyIn } from "./engagement.ts";

type Content = OverlayShow["contents"][number];
export type Position = Content["position"];

/** One line of the log of frames. */
export interface LogEntry {
  id: number;
  /** Milliseconds since 1970, this browser's clock. */
  at: number;
  sent: boolean;
  type: string;
  seq: number | undefined;
  detail: string;
}

export interface ChannelView {
  connection: ConnectionState;
  /** Why the connection is offline. */
  reason: string | undefined;
  viewers: number | undefined;
  overlays: OverlayShow[];
  /** Of the poll that was answered last. */
  tally: Tally | undefined;
  /** The quest that was changed last. */
  quest: QuestNews | undefined;
  /** Milliseconds by which this browser's clock is ahead of the server's, as far as the frames tell. */
  skew: number;
  log: LogEntry[];
}

export type ChannelEvent =
  | { kind: "connection"; state: ConnectionState; reason: string | undefined }
  | { kind: "frame"; frame: ServerFrame; at: number }
  | { kind: "sent"; frame: ViewerFrame; at: number }
  | { kind: "tick"; at: number };

export const LOG_LENGTH = 20;
export const EMPTY_VIEW: ChannelView = {
  connection: "connecting",
  reason: undefined,
  viewers: undefined,
  overlays: [],
  tally: undefined,
  quest: undefined,
  skew: Infinity,
  log: [],
};

/** What the page shows after `event`. */
export function nextView(view: ChannelView, event: ChannelEvent): ChannelView {
  switch (event.kind) {
    case "connection":
      return { ...view, connection: event.state, reason: event.reason, viewers: event.state === "live" ? view.viewers : undefined };
    case "tick":
      return { ...view, overlays: view.overlays.filter((overlay) => endsAt(view, overlay) > event.at) };
    case "sent":
      return { ...view, log: logged(view.log, { at: event.at, sent: true, type: event.frame.type, seq: seqOf(event.frame), detail: "" }) };
    case "frame":
      return afterFrame(view, event.frame, event.at);
  }
}

function afterFrame(before: ChannelView, frame: ServerFrame, at: number): ChannelView {
  const view = {
    ...before,
    log: logged(before.log, { at, sent: false, type: frame.type, seq: seqOf(frame), detail: detailOf(frame) }),
  };
  switch (frame.type) {
    case "welcome": {
      const overlays = frame.recovered ? [...view.overlays, ...frame.overlays] : frame.overlays;
      const skew = Math.min(view.skew, ...frame.overlays.map(({ startsAt }) => at - startsAt));
      return { ...view, viewers: frame.concurrents, overlays: unique(overlays), skew };
    }
    case "overlay.show":
      return { ...view, overlays: unique([...view.overlays, frame]), skew: Math.min(view.skew, at - frame.startsAt) };
    case "overlay.clear":
      return { ...view, overlays: view.overlays.filter(({ broadcastId }) => !frame.broadcastIds.includes(broadcastId)) };
    case "concurrents":
      return { ...view, viewers: frame.count };
    case "poll.updated":
      return { ...view, tally: tallyIn(frame.data) ?? view.tally };
    case "quest.updated":
      return { ...view, quest: questIn(frame.data) ?? view.quest };
    default:
      return view;
  }
}

/** When the overlay ends by this browser's clock. The server clears it anyway; this holds while the connection is lost. */
export function endsAt(view: ChannelView, overlay: OverlayShow): number {
  return overlay.endsAt + view.skew;
}

/** What stands at each position: of several overlays the one of higher priority, then the newer. */
export function onStage(overlays: OverlayShow[]): Map<Position, { overlay: OverlayShow; content: Content }> {
  const stage = new Map<Position, { overlay: OverlayShow; content: Content }>();
  for (const overlay of overlays.toSorted((a, b) => a.priority - b.priority || a.seq - b.seq)) {
    for (const content of overlay.contents) stage.set(content.position, { overlay, content });
  }
  return stage;
}

function unique(overlays: OverlayShow[]): OverlayShow[] {
  return [...new Map(overlays.map((overlay) => [overlay.broadcastId, overlay])).values()];
}

function logged(log: LogEntry[], entry: Omit<LogEntry, "id">): LogEntry[] {
  const id = (log[0]?.id ?? 0) + 1;
  return [{ id, ...entry }, ...log].slice(0, LOG_LENGTH);
}

function seqOf(frame: ServerFrame | ViewerFrame): number | undefined {
  return "seq" in frame ? frame.seq : undefined;
}

function detailOf(frame: ServerFrame): string {
  switch (frame.type) {
    case "welcome":
      return frame.recovered ? "resumed" : `${frame.overlays.length} on now`;
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
