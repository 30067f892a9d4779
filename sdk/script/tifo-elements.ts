import { hlsProgramDateTime, videoElement } from "../channel/index.ts";
import { TifoProblem } from "../client/index.ts";
import { steadyEnvironment } from "../core/clock.ts";
import { createTifo, once } from "../core/core.ts";
import { userSettings } from "../core/user-settings.ts";
import { Channels, type Token } from "../elements/channels.ts";
import { defineElements } from "../elements/elements.tsx";
import * as renderer from "../react/mount.tsx";
import { scriptOrigin } from "./script-origin.ts";
import type { Tifo } from "./tifo.ts";

// The SDK for pages that prefer elements to calls: `<script src="https://<deployment>/sdk/tifo-elements.js">` defines `<tifo-overlays>`,
// `<tifo-panel>`, `<tifo-poll>` and `<tifo-chat>`, and `window.Tifo` as the other script does.
const origin = scriptOrigin("tifo-elements.js");
const settings = once(userSettings);
const channels = new Channels(settings);

export const TifoElements = {
  /**
   * Sets the viewer of a site's elements: a JWT, or better a function that returns a current one; null signs out. Rejoins the site's
   * channels as that viewer. `deployment` is the `origin` of the elements; default: that of the script.
   */
  setToken: (site: string, token: Token, deployment: string = origin ?? location.origin): Promise<void> =>
    channels.setToken(site, token, deployment),
};

declare global {
  interface Window {
    TifoElements: typeof TifoElements;
  }
}

const sdk: typeof Tifo = {
  ...createTifo(renderer, origin, steadyEnvironment, settings),
  hlsProgramDateTime,
  videoElement,
  TifoProblem,
};
window.Tifo = sdk;
window.TifoElements = TifoElements;
defineElements({ channels, settings, origin });
