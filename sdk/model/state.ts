import type { OverlayShow } from "../channel/protocol.ts";
import type { components } from "../generated/rest.d.ts";

/** How the connection to the channel stands. `resuming`: it was live, and what is missed meanwhile will follow in order. */
export type ConnectionState = "connecting" | "live" | "resuming" | "offline";

/** The page's theme: colours by role, corners of buttons, typography. Made for one mode; the SDK keeps its text readable in both. */
export type EventTheme = NonNullable<components["schemas"]["PageConfiguration"]["theme"]>;

/** What a panel shows, as the REST API gives it: each `panel_type` has fields of its own. */
export type PanelRenderer = components["schemas"]["PanelRenderer"];

/** The types of panels. */
export type PanelKind = PanelRenderer["panel_type"];

/** A panel of the event's sidebar. */
export interface PanelInfo {
  id: string;
  kind: PanelKind;
  /** Name beside its icon. */
  name: string;
  iconUrl?: string;
  renderer: Readonly<PanelRenderer>;
}

export interface PollAnswerState {
  answerId: string;
  answer: string;
  imageUrl?: string;
  /** Undefined while the poll hides its results. */
  responses?: number;
  /** 0 to 1. Undefined while the poll hides its results. */
  share?: number;
}

/** A poll, prediction or trivia question with its live tally. */
export interface PollState {
  pollId: string;
  type: "poll" | "prediction" | "trivia";
  question: string;
  open: boolean;
  answers: readonly PollAnswerState[];
  /** Responses in all. */
  total?: number;
  /** Known once it is settled. */
  correctAnswerId?: string;
  /** What this viewer answered. */
  myAnswerId?: string;
}

/** What a quest asks for, with this viewer's progress. */
export interface QuestActionState {
  arrayId: string;
  /** What the viewer is asked to do. */
  body: string;
  kind: string;
  current: number;
  required: number;
  done: boolean;
  /** An address that the viewer is led to, or the words of the button that leads there. */
  callToAction?: string;
  /** What it must be: an address, or the id of a poll, panel, channel or video. Absent: any. */
  value?: string;
}

/** A quest with this viewer's progress. */
export interface QuestState {
  questId: string;
  title: string;
  description: string;
  rewardDescription: string;
  rewardImage?: string;
  complete: boolean;
  actions: readonly QuestActionState[];
  /** Once claimed. */
  claim?: "PENDING" | "SUCCESS" | "ERROR" | "ERROR_REGION";
}

/** A rule that the page evaluates with facts of its own, as the REST API gives it. */
export interface ClientRule {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** An overlay that is on the screen now. */
export interface ShownOverlay {
  broadcastId: string;
  overlay: Readonly<OverlayShow>;
}

/** All that is known of the event that is being watched. A new object after every change; parts that did not change keep their identity. */
export interface TifoEventState {
  channelId: string;
  connection: ConnectionState;
  /** Why the connection is offline. */
  reason?: string;
  /** Viewers of the channel. */
  concurrents: number;
  /** Whether a stream is on, as far as was heard since joining. */
  live: boolean;
  /** Name of the channel. */
  title: string;
  /** Null: the page has none. */
  theme: EventTheme | null;
  panels: readonly PanelInfo[];
  /** The panel that is open: the default one at first, null once it is closed. */
  openPanelId: string | null;
  /** At most one for each position: the higher priority, of equal ones the newer. What is displaced comes back if it still lasts. */
  overlays: readonly ShownOverlay[];
  polls: Readonly<Record<string, PollState>>;
  quests: Readonly<Record<string, QuestState>>;
  /** The client rules that hold for this viewer. The SDK evaluates none: the facts are the host app's. */
  rules: readonly ClientRule[];
  authenticated: boolean;
  /** Seconds of media time of the player, in steps of about one second. */
  mediaTime: number | null;
  /** Set while a clip plays. */
  playingClipId: string | null;
}
