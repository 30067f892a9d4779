import type { Clip } from "./player.ts";
import type { PanelKind } from "./state.ts";

/** An action of the viewer, for the host app's analytics. */
export interface TrackedAction {
  /** Such as `overlay.cta`, `poll.answer`, `quest.claim`, `panel.open`; also `overlay.dropped`, which isn't an action of the viewer. */
  name: string;
  /** Related ids and values, such as `{ pollId, answerId }`. */
  properties: Record<string, string | number | boolean>;
}

/** Something that was shown to the viewer. */
export interface TrackedImpression {
  kind: "overlay" | "panel" | "poll" | "quest";
  id: string;
  /** The broadcast of an overlay. */
  broadcastId?: string;
}

/** An event in a panel. */
export type PanelEvent =
  | { type: "opened" | "closed"; panelId: string; kind: PanelKind }
  | { type: "answered"; panelId: string; pollId: string; answerId: string }
  | { type: "claimed"; panelId: string; questId: string; status: string }
  | { type: "loginRequested"; panelId?: string };

/** How focus enters Tifo's elements, and how Tifo hands it back. */
export interface FocusHandover {
  /** The edge over which focus enters. Leaving over the same edge hands it back. */
  from: "up" | "down" | "left" | "right";
  /** Called once, when focus leaves Tifo's elements: the host app then moves it on. */
  onExit: (direction: "up" | "down" | "left" | "right") => void;
}

/**
 * Callbacks of the host app. All are optional: a method that is absent has the default named in its description. Methods may be async; if
 * one throws, the error is logged to the console and the default applies.
 */
export interface TifoEventDelegate {
  /** A JWT of the viewer, issued by this site (`POST /auth/v2/login` or `/auth/v2/intent/consume`). Null: anonymous. Default: anonymous. */
  getUserToken?(): string | null | Promise<string | null>;
  /** The host app's id of the viewer, added to {@link trackAction}'s properties as `swid`. Default: none. */
  getUserSWID?(): string | null | Promise<string | null>;
  /** Whether the viewer is signed in. Default: whether {@link getUserToken} returns a token. */
  userIsAuthenticated?(): boolean | Promise<boolean>;
  /** Origin of the host app's statistics service, for custom panels and `show_player_stats`. Default: none, and such calls to action open the panel of people with the site's match facts, else the one with the leaderboard, or are hidden without either. */
  getStatsAPIBaseURL?(): string | null;
  /** Origin of the host app's betting service, for custom panels. Tifo itself never calls it. Default: none. */
  getBettingAPIBaseURL?(): string | null;
  /** Shows a clip in the host app's player. Default: Tifo opens the clip's own page in a new tab. */
  playClip?(clip: Clip): void | Promise<void>;
  /**
   * Called when an arrow key moves focus to Tifo's elements without a handover: pass this one to `focus` of the rendered element. Its
   * `onExit` returns focus to the element that had it. Default: the browser's focus order.
   */
  startFocusManagement?(handover: FocusHandover): void;
  onPanelEvent?(event: PanelEvent): void;
  trackAction?(action: TrackedAction): void;
  trackImpression?(impression: TrackedImpression): void;
  /** The viewer asks the key plays panel for newer data: pass it to `updateKeyPlays` of the event. Default: the event's playlist. */
  userRequestedNewKeyPlaysData?(channelId: string): void | Promise<void>;
}
