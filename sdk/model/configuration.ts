import type { TifoEventDelegate } from "./event-delegate.ts";

/** What {@link configure} takes. One configuration holds for the page; configuring again replaces it and leaves every event. */
export interface TifoConfiguration {
  /** The site's id, which every request carries as its client id. Not a secret. */
  clientId: string;
  /** Origin of the Tifo deployment, such as `https://tifo.example.com`. Default: where the script came from, else the page's own. */
  origin?: string;
  /** What the host app answers and hears. Every method is optional. */
  delegate?: TifoEventDelegate;
  /** `system` (default) follows the viewer's setting; an event's own theme decides the colours within a mode. */
  mode?: "light" | "dark" | "system";
  /** Names this device over visits. Default: a random id kept in the browser's storage, or for this page alone where there is none. */
  deviceId?: string;
}

/** What the viewer may choose for themselves; kept in the browser's storage where there is one. */
export interface UserSettings {
  /** Whether overlays are shown at all. Default true. */
  overlays: boolean;
  /** Html and rive overlays appear without moving. Default: the browser's `prefers-reduced-motion`. */
  reducedMotion: boolean;
  /** Text scale of panels and calls to action, 0.8 to 1.6. Default 1. */
  textScale: number;
}
