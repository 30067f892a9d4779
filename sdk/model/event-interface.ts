import type { Clip, PlayerAdapter } from "./player.ts";
import type { PanelInfo, PanelKind, TifoEventState } from "./state.ts";

/** A key play, as the host app hands it over. */
export interface KeyPlay {
  id: string;
  title: string;
  /** Seconds of media time. */
  time: number;
  thumbnailUrl?: string;
  clip?: Clip;
}

/** Panel management: what the sidebar shows. */
export interface PanelManagement {
  /** The event's panels, in order. */
  getPanels(): readonly PanelInfo[];
  /** The panel that opens by itself: the first. Null: the event has none. */
  getDefaultPanel(): PanelInfo | null;
  /** Opens a panel by id or, as the first of its kind, by type. False: the event has no such panel. */
  openPanel(panel: string | { kind: PanelKind }): boolean;
  closePanel(): void;
  /** Replaces the key plays of the playlist panel. */
  updateKeyPlays(plays: readonly KeyPlay[]): void;
}

/** Playback controls: how Tifo and the host app's player move each other. */
export interface PlaybackControls {
  /** Tells Tifo of the picture; null when there is none any more. */
  setPlayer(player: PlayerAdapter | null): void;
  play(): Promise<void>;
  pause(): void;
  /** Seconds of media time. */
  seek(seconds: number): void;
  /** Shows a clip through the delegate. */
  playClip(clip: Clip): Promise<void>;
  /** Ends the clip and gives the picture back to the event. */
  stopPlayingClip(): void;
}

/** The state of the event, as a store: `useSyncExternalStore(event.subscribe, event.getSnapshot)` works as it stands. */
export interface EventStore {
  /** Calls back after every change; returns the function that ends this. Bound: may be passed on without its object. */
  subscribe: (listener: () => void) => () => void;
  /** The same object until something changes. */
  getSnapshot: () => TifoEventState;
}

/** What viewers do. Each needs somebody to be signed in, else it asks through `onPanelEvent` `loginRequested` and rejects. */
export interface Participation {
  /** Answers a poll over the open socket. Rejects with a `TifoProblem`: `already_answered`, `poll_closed`, `unauthenticated`. */
  answerPoll(pollId: string, answerId: string): Promise<void>;
  /** Reports what the server can't see, such as an opened link. */
  reportQuestAction(questId: string, arrayId: string, value?: string): Promise<void>;
  /** Claims a quest's reward; answers the claim's status. */
  claimQuest(questId: string): Promise<"PENDING" | "SUCCESS" | "ERROR" | "ERROR_REGION">;
}

/** One event (channel) that is being watched. */
export interface TifoEventViewModel extends EventStore, PanelManagement, PlaybackControls, Participation {
  readonly channelId: string;
  /** Takes an overlay off this viewer's screen. */
  dismissOverlay(broadcastId: string): void;
}
