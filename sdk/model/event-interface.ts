import type { Clip, PlayerAdapter } from "./player.ts";
import type { OverlayShow } from "../channel/protocol.ts";
import type { components } from "../generated/rest.d.ts";
import type { PanelFocus, PanelInfo, PanelKind, QuestionsState, QuestionSort, TifoEventState } from "./state.ts";

/** A key play that the host app provides. */
export interface KeyPlay {
  id: string;
  title: string;
  /** Seconds of media time. */
  time: number;
  thumbnailUrl?: string;
  clip?: Clip;
}

/** Panel management: the contents of the sidebar. */
export interface PanelManagement {
  /** The event's panels, in order. */
  getPanels(): readonly PanelInfo[];
  /** The panel that is open initially: the first one, or null if the event has none. */
  getDefaultPanel(): PanelInfo | null;
  /**
   * Opens a panel by id, or the first one of a kind. Returns false if the event has no such panel. With `focus`, a panel of people scrolls to
   * that person, group or player and focuses it.
   */
  openPanel(panel: string | { kind: PanelKind }, focus?: PanelFocus): boolean;
  closePanel(): void;
  /** Replaces the key plays of the playlist panel. */
  updateKeyPlays(plays: readonly KeyPlay[]): void;
}

/** A recording of a channel's video. */
export interface Recording {
  /** When its first picture was live, in ms since 1970 UTC. */
  startsAt: number;
  /** When its last one was; until now if absent. */
  endsAt?: number;
}

/** Playback controls: how Tifo and the host app's player control each other. */
export interface PlaybackControls {
  /** Connects Tifo to the player; null disconnects it. */
  setPlayer(player: PlayerAdapter | null): void;
  play(): Promise<void>;
  pause(): void;
  /** Seconds of media time. */
  seek(seconds: number): void;
  /** Shows a clip through the delegate. */
  playClip(clip: Clip): Promise<void>;
  /** Call it when the clip ends, so that the player shows the event again. */
  stopPlayingClip(): void;
  /**
   * Adds the broadcasts of a recording: each is shown when the player reaches its `timecode`, also after seeking back. Set the player first.
   */
  replay(broadcasts: readonly OverlayShow[]): void;
  /** Replays what the channel showed while the recording was made. Resolves when all of it is loaded. Set the player first. */
  replayRecording(recording: Recording): Promise<void>;
}

/** The state of the event as a store that works with React's `useSyncExternalStore(event.subscribe, event.getSnapshot)`. */
export interface EventStore {
  /** Calls the listener after every change, and returns a function that unsubscribes it. Bound, so it can be passed as a callback. */
  subscribe: (listener: () => void) => () => void;
  /** Returns the same object until something changes. */
  getSnapshot: () => TifoEventState;
}

/** What viewers can do once signed in. Otherwise each method emits `loginRequested` through `onPanelEvent` and rejects. */
export interface Participation {
  /** Answers a poll, over the open socket if there is one. Rejects with a `TifoProblem`: `already_answered`, `poll_closed`, `insufficient_balance`, `unauthenticated`. */
  answerPoll(pollId: string, answerId: string): Promise<void>;
  /** Reports an action that the server can't see, such as an opened link. */
  reportQuestAction(questId: string, arrayId: string, value?: string): Promise<void>;
  /** Claims a quest's reward, and returns the status of the claim. */
  claimQuest(questId: string): Promise<"PENDING" | "SUCCESS" | "ERROR" | "ERROR_REGION">;
}

/** A moderator's decision on a question. */
export type QuestionDecision = components["schemas"]["QuestionDecision"];

/**
 * The channel's questions: a store of its own, which works with React's `useSyncExternalStore` too. The methods that viewers need an account
 * for emit `loginRequested` without one and reject; all reject with a `TifoProblem`.
 */
export interface QuestionStore {
  /** Calls the listener after every change. The questions are loaded, and kept up to date, while there is a listener. */
  subscribe: (listener: () => void) => () => void;
  getSnapshot: () => QuestionsState;
  /** Loads the questions again. */
  reload(): Promise<void>;
  /** Loads the questions in another order. */
  setSort(sort: QuestionSort): Promise<void>;
  /** Loads the next page, if `hasMore`. */
  loadMore(): Promise<void>;
  /** Asks a question, which only its asker and moderators see until it is approved. */
  ask(text: string): Promise<void>;
  /** Upvotes a question, or takes the upvote back. Shown at once, and undone if it fails. */
  upvote(questionId: string, upvoted: boolean): Promise<void>;
  /** For moderators. */
  decide(questionId: string, decision: QuestionDecision): Promise<void>;
  /** For moderators: shows the question on the channel's screens, for `seconds`. */
  showOnScreen(questionId: string, seconds?: number): Promise<void>;
}

/** One event (channel) that is being watched. */
export interface TifoEventViewModel extends EventStore, PanelManagement, PlaybackControls, Participation {
  readonly channelId: string;
  readonly questions: QuestionStore;
  /** Hides an overlay for this viewer. */
  dismissOverlay(broadcastId: string): void;
}
