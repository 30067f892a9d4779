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
  /**
   * The language of the SDK's own texts, such as `pt-BR`: English, Spanish, French, German, Portuguese, Italian or Arabic. Default: the
   * viewer's among those of the site's `settings.localization`, or else the browser's. What the site wrote isn't translated.
   */
  language?: string;
  /**
   * An element for the HTML of the site's `settings.code_injection.body`, which its admins write. It is sanitised and has neither scripts nor
   * styles of its own. Without an element, it isn't loaded.
   */
  codeInjection?: Element;
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
