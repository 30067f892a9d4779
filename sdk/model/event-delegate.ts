import type { Clip } from "./player.ts";
import type { PanelKind } from "./state.ts";

/** What a viewer did, for the host app's own analytics. */
export interface TrackedAction {
  /** Such as `overlay.cta`, `poll.answer`, `quest.claim`, `panel.open`; also `overlay.dropped`, which is not the viewer's doing. */
  name: string;
  /** Ids and values that belong to it, such as `{ pollId, answerId }`. */
  properties: Record<string, string | number | boolean>;
}

/** What a viewer was shown. */
export interface TrackedImpression {
  kind: "overlay" | "panel" | "poll" | "quest";
  id: string;
  /** The broadcast, where it is an overlay. */
  broadcastId?: string;
}

/** Something happened in a panel. */
export type PanelEvent =
  | { type: "opened" | "closed"; panelId: string; kind: PanelKind }
  | { type: "answered"; panelId: string; pollId: string; answerId: string }
  | { type: "claimed"; panelId: string; questId: string; status: string }
  | { type: "loginRequested"; panelId?: string };

/** Where focus stands when it is handed to Tifo, and how Tifo hands it back. */
export interface FocusHandover {
  /** The edge over which focus comes in; leaving over the same edge hands it back. */
  from: "up" | "down" | "left" | "right";
  /** Called once when focus leaves Tifo's elements: the host app takes it from there. */
  onExit: (direction: "up" | "down" | "left" | "right") => void;
}

/**
 * What the host app answers and hears. Tifo works without any of it: each method that is absent has the default that it names. Methods
 * may be async; one that throws is reported to the console and treated as absent.
 */
export interface TifoEventDelegate {
  /** A JWT of this site's viewer (`POST /auth/v2/login` or `/auth/v2/intent/consume`). Null: anonymous. Default: anonymous. */
  getUserToken?(): string | null | Promise<string | null>;
  /** The host app's own id of the viewer, passed through in {@link trackAction}'s properties as `swid`. Default: none. */
  getUserSWID?(): string | null | Promise<string | null>;
  /** Whether somebody is signed in. Default: whether {@link getUserToken} answers one. */
  userIsAuthenticated?(): boolean | Promise<boolean>;
  /** Origin of the host app's statistics service, for custom panels and `show_player_stats`. Default: none, and such calls to action are hidden. */
  getStatsAPIBaseURL?(): string | null;
  /** Origin of the host app's betting service, for custom panels. Tifo itself never calls it. Default: none. */
  getBettingAPIBaseURL?(): string | null;
  /** Shows a clip in the host app's player. Default: Tifo opens the clip's own page in a new tab. */
  playClip?(clip: Clip): void | Promise<void>;
  /**
   * An arrow key brought focus to Tifo's elements without a hand-over: give this one to `focus` of what was drawn. Its `onExit` gives
   * focus back to what had it. Default: the browser's own focus order.
   */
  startFocusManagement?(handover: FocusHandover): void;
  onPanelEvent?(event: PanelEvent): void;
  trackAction?(action: TrackedAction): void;
  trackImpression?(impression: TrackedImpression): void;
  /** The key plays panel wants newer data: call `updateKeyPlays` of the event interface with it. Default: the event's playlist. */
  userRequestedNewKeyPlaysData?(channelId: string): void | Promise<void>;
}
