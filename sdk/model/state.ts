import type { OverlayShow } from "../channel/protocol.ts";
import type { components } from "../generated/rest.d.ts";

/** State of the connection to the channel. `resuming`: it was live before, and missed frames will follow in order. */
export type ConnectionState = "connecting" | "live" | "resuming" | "offline";

/** The page's theme: colours by role, button corners, typography. Designed for one mode; the SDK keeps its text readable in both. */
export type EventTheme = NonNullable<components["schemas"]["PageConfiguration"]["theme"]>;

/** The site's `settings.transitions`. */
export type OverlayTransitions = NonNullable<components["schemas"]["PageConfiguration"]["site"]["transitions"]>;

/** The contents of a panel, as the REST API returns them: each `panel_type` has its own fields. */
export type PanelRenderer = components["schemas"]["PanelRenderer"];

/** The type of a panel. */
export type PanelKind = PanelRenderer["panel_type"];

/** A panel of the event's sidebar. */
export interface PanelInfo {
  id: string;
  kind: PanelKind;
  /** Name next to its icon. */
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
  /** Total number of responses. */
  total?: number;
  /** Set once the poll is settled. */
  correctAnswerId?: string;
  /** What an answer costs, in units of the viewer's wallet. Absent: nothing. */
  responseCost?: number;
  /** This viewer's latest answer, also of an earlier visit. */
  myAnswerId?: string;
}

/** An action of a quest, with this viewer's progress. */
export interface QuestActionState {
  arrayId: string;
  /** Instruction to the viewer. */
  body: string;
  kind: string;
  current: number;
  required: number;
  done: boolean;
  /** A URL to open, or the label of the action's button. */
  callToAction?: string;
  /** The target of the action: a URL, or the id of a poll, panel, channel or video. Absent: any. */
  value?: string;
}

/** A quest with this viewer's progress. */
export interface QuestState {
  questId: string;
  title: string;
  description: string;
  rewardDescription: string;
  rewardImage?: string;
  /** By the quest's times. What is done before it opens or after it has ended doesn't count. */
  phase?: "upcoming" | "open" | "ended";
  /** What a claim costs and what the reward pays, in units of the viewer's wallet. Absent: nothing. */
  claimCost?: number;
  rewardAmount?: number;
  complete: boolean;
  actions: readonly QuestActionState[];
  /** Set once the reward is claimed. */
  claim?: "PENDING" | "SUCCESS" | "ERROR" | "ERROR_REGION";
}

/** A question of the channel, as the REST API returns it. */
export type QuestionState = Readonly<components["schemas"]["Question"]>;

export type QuestionSort = "upvotes" | "created";

/** The channel's questions, as far as they are loaded. */
export interface QuestionsState {
  status: "loading" | "ready" | "failed";
  /** In no particular order; `revision` says which of two copies is newer. */
  questions: readonly QuestionState[];
  sort: QuestionSort;
  hasMore: boolean;
  /** Whether this viewer may decide on questions. */
  moderates: boolean;
  /** The viewer's account; null if nobody is signed in. */
  accountId: string | null;
}

/** A rule that the page evaluates with its own facts, as the REST API returns it. */
export interface ClientRule {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** An overlay that is on the screen. */
export interface ShownOverlay {
  broadcastId: string;
  overlay: Readonly<OverlayShow>;
}

/** Who an open panel shows first: the id of a person or group of the panel, or a data provider's id of a player. */
export interface PanelFocus {
  kind: "person" | "group" | "player";
  id: string;
}

/** State of an event that is being watched. Every change creates a new object; parts that didn't change keep their identity. */
export interface TifoEventState {
  channelId: string;
  connection: ConnectionState;
  /** Why the connection is offline. */
  reason?: string;
  /** Viewers of the channel. */
  concurrents: number;
  /** Whether a stream is live, according to the frames received since joining. */
  live: boolean;
  /** Name of the channel. */
  title: string;
  /** Null: the page has none. */
  theme: EventTheme | null;
  /** How the site wants overlays to appear and disappear; null: in the SDK's own way. */
  transitions: OverlayTransitions | null;
  panels: readonly PanelInfo[];
  /** The open panel: initially the default one, null once it is closed. */
  openPanelId: string | null;
  /** The person, group or player that the open panel scrolls to; null: none. */
  panelFocus: PanelFocus | null;
  /** At most one per position: the one with the highest priority, or the newest of equal ones. A displaced overlay returns if it is still active. */
  overlays: readonly ShownOverlay[];
  polls: Readonly<Record<string, PollState>>;
  quests: Readonly<Record<string, QuestState>>;
  /** The client rules that apply to this viewer. The SDK doesn't evaluate them, because the host app has the facts. */
  rules: readonly ClientRule[];
  authenticated: boolean;
  /** The player's media time in seconds, updated about once a second. */
  mediaTime: number | null;
  /** Set while a clip plays. */
  playingClipId: string | null;
}
