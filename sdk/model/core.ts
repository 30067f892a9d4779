import type { ServerFrame, ViewerFrame } from "../channel/protocol.ts";
import type { TifoConfiguration, UserSettings } from "./configuration.ts";
import type { FocusHandover } from "./event-delegate.ts";
import type { TifoEventViewModel } from "./event-interface.ts";
import type { PlayerAdapter } from "./player.ts";

/** Something that Tifo draws into an element of the page. */
export interface Rendered {
  /** Takes it out of the page; the element is empty afterwards. Safe to repeat. */
  unmount(): void;
  /** Hands focus over to it, for remote controls: spatial navigation inside, and out over the edges through `onExit`. */
  focus(handover: FocusHandover): void;
}

/** What `userDidStartWatchingEvent` takes. */
export interface WatchOptions {
  channelId: string;
  player?: PlayerAdapter | HTMLVideoElement;
  /** Hears each frame as it comes, before anything is made of it, for logs and tests. Taken where the channel is joined anew. */
  onFrame?: (frame: ServerFrame) => void;
  /** Hears each frame that is sent. Taken where the channel is joined anew. */
  onSent?: (frame: ViewerFrame) => void;
}

/** What `renderPanel` takes. */
export interface PanelOptions {
  /** Default: the event that was started last. */
  channelId?: string;
  /** One panel alone. Default: the event's sidebar with all of them. */
  panelId?: string;
}

/** What `renderOverlay` takes. The element lies over the player; it takes no clicks but those on an overlay's own elements. */
export interface OverlayOptions {
  channelId?: string;
  /** Distance from the edges that overlays keep, in CSS pixels. Default 16. */
  safeArea?: number | { top: number; right: number; bottom: number; left: number };
}

/** The Web SDK: `import * as Tifo from "@tifo/web"`, or `window.Tifo` after `<script src="/sdk/tifo.js">`. */
export interface TifoCore {
  /** Says which site the page belongs to. First of all calls. Throws `TypeError` for a client id that is not 24 hex characters. */
  configure: (configuration: TifoConfiguration) => void;
  /**
   * Joins a channel, counts the viewer in and begins to receive. The same event again answers the same view model, or a new one where the
   * channel refused the viewer for good. Throws before `configure`.
   */
  userDidStartWatchingEvent: (options: WatchOptions) => Promise<TifoEventViewModel>;
  /** Leaves it: counted out within two seconds. Without an id: every event. Safe to repeat. */
  userDidStopWatchingEvent: (channelId?: string) => void;
  /** Somebody signed in or out: every event is joined anew as them, with their quests. Resolves once those are loaded. */
  userDidChange: () => Promise<void>;
  /** The event's view model, or null when it is not being watched. Without an id: the event that was started last. */
  getTifoEventViewModel: (channelId?: string) => TifoEventViewModel | null;
  renderPanel: (element: Element, options?: PanelOptions) => Rendered;
  renderOverlay: (element: Element, options?: OverlayOptions) => Rendered;
  getUserSettings: () => UserSettings;
  /** Changes some settings, keeps them for the next visit and answers all. */
  updateUserSettings: (changes: Partial<UserSettings>) => UserSettings;
}
