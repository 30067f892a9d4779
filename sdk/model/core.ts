import type { ServerFrame, ViewerFrame } from "../channel/protocol.ts";
import type { TifoConfiguration, UserSettings } from "./configuration.ts";
import type { FocusHandover } from "./event-delegate.ts";
import type { TifoEventViewModel } from "./event-interface.ts";
import type { PlayerAdapter } from "./player.ts";

/** A panel or overlay that Tifo has rendered into an element of the page. */
export interface Rendered {
  /** Removes it from the page and leaves the element empty. Safe to repeat. */
  unmount(): void;
  /** Hands focus over, for remote controls: arrow keys move focus within it, and `onExit` is called when focus leaves over an edge. */
  focus(handover: FocusHandover): void;
}

/** Distances from the edges of the element, in CSS pixels; a number applies to all four. */
export type SafeArea = number | { top: number; right: number; bottom: number; left: number };

/** Overlays that Tifo has rendered over the player. */
export interface RenderedOverlay extends Rendered {
  /** Changes the safe area, for example while the player shows its controls or captions. What is in the way moves. */
  setSafeArea(safeArea: SafeArea | undefined): void;
}

/** Options of `userDidStartWatchingEvent`. */
export interface WatchOptions {
  channelId: string;
  player?: PlayerAdapter | HTMLVideoElement;
  /** Receives each frame before it is processed, for logs and tests. Only used when the call joins the channel. */
  onFrame?: (frame: ServerFrame) => void;
  /** Receives each frame that is sent. Only used when the call joins the channel. */
  onSent?: (frame: ViewerFrame) => void;
}

/** Options of `renderPanel`. */
export interface PanelOptions {
  /** Default: the event that was started most recently. */
  channelId?: string;
  /** Renders one panel. Default: the event's sidebar with all panels. */
  panelId?: string;
}

/** Options of `renderChat`. */
export interface ChatOptions {
  /** Default: the event that was started most recently. */
  channelId?: string;
}

/** Options of `renderOverlay`. The element covers the player; only an overlay's own elements receive clicks. */
export interface OverlayOptions {
  channelId?: string;
  /** Minimum distance of overlays from the edges. Default: 16 pixels, or 2.5 % of the height if that is more. */
  safeArea?: SafeArea;
}

/** The Web SDK: `import * as Tifo from "@tifo/web"`, or `window.Tifo` after `<script src="/sdk/tifo.js">`. */
export interface TifoCore {
  /** Sets the site that the page belongs to. Call it first. Throws `TypeError` for a client id that isn't 24 hex characters. */
  configure: (configuration: TifoConfiguration) => void;
  /**
   * Joins a channel, counts the viewer and starts receiving. Calling it again for the same event returns the same view model, or a new one
   * if the channel has rejected the viewer for good. Throws before `configure`.
   */
  userDidStartWatchingEvent: (options: WatchOptions) => Promise<TifoEventViewModel>;
  /** Leaves the event, or every event without an id. The viewer is no longer counted after at most two seconds. Safe to repeat. */
  userDidStopWatchingEvent: (channelId?: string) => void;
  /** Call it after a viewer signs in or out: rejoins every event as that viewer. Resolves once their quests are loaded. */
  userDidChange: () => Promise<void>;
  /** The event's view model, or null if it isn't being watched. Without an id: the event that was started most recently. */
  getTifoEventViewModel: (channelId?: string) => TifoEventViewModel | null;
  renderPanel: (element: Element, options?: PanelOptions) => Rendered;
  /** Renders the channel's chat alone. It works without a chat panel too. */
  renderChat: (element: Element, options?: ChatOptions) => Rendered;
  renderOverlay: (element: Element, options?: OverlayOptions) => RenderedOverlay;
  getUserSettings: () => UserSettings;
  /** Changes some settings, keeps them for the next visit, and returns all settings. */
  updateUserSettings: (changes: Partial<UserSettings>) => UserSettings;
}
