import type { TifoEventDelegate } from "./event-delegate.ts";

/** Options of {@link configure}. A page has one configuration; configuring again replaces it and leaves every event. */
export interface TifoConfiguration {
  /** The site's id, sent with every request as its client id. Not a secret. */
  clientId: string;
  /** Origin of the Tifo deployment, such as `https://tifo.example.com`. Default: the origin of the script, or else of the page. */
  origin?: string;
  /** Callbacks of the host app. Every method is optional. */
  delegate?: TifoEventDelegate;
  /** `system` (default) follows the viewer's setting; an event's own theme decides the colours within a mode. */
  mode?: "light" | "dark" | "system";
  /** Identifies this device across visits. Default: a random id in the browser's storage, or for this page only if storage is unavailable. */
  deviceId?: string;
  /**
   * Whether the SDK reports to the site what viewers were shown and did, without their ids. Default true. Nothing is reported if the site
   * has switched it off, or for viewers whose browser sends Global Privacy Control or Do Not Track.
   */
  insights?: boolean;
}

/** The viewer's own preferences, kept in the browser's storage if it is available. */
export interface UserSettings {
  /** Whether overlays are shown. Default true. */
  overlays: boolean;
  /** HTML and Rive overlays appear without motion. Default: the browser's `prefers-reduced-motion`. */
  reducedMotion: boolean;
  /** Text scale of panels and calls to action, 0.8 to 1.6. Default 1. */
  textScale: number;
}
