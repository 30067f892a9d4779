import { hlsProgramDateTime, videoElement } from "../channel/index.ts";
import { TifoProblem } from "../client/index.ts";
import { createTifo } from "../core/core.ts";
import * as renderer from "../react/mount.tsx";
import { scriptOrigin } from "./script-origin.ts";

// The SDK for pages without a bundler: `<script src="https://<deployment>/sdk/tifo.js">` defines `window.Tifo`.
export const Tifo = { ...createTifo(renderer, scriptOrigin("tifo.js")), hlsProgramDateTime, videoElement, TifoProblem };

declare global {
  interface Window {
    Tifo: typeof Tifo;
  }
}

window.Tifo = Tifo;
