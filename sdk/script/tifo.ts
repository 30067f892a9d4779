import { hlsProgramDateTime, videoElement } from "../channel/index.ts";
import { TifoProblem } from "../client/index.ts";
import { createTifo } from "../core/core.ts";
import * as renderer from "../react/mount.tsx";

// The SDK for pages without a bundler: `<script src="https://<deployment>/sdk/tifo.js">` defines `window.Tifo`.
const script = document.currentScript;
const origin = script instanceof HTMLScriptElement ? new URL(script.src).origin : undefined;

export const Tifo = { ...createTifo(renderer, origin), hlsProgramDateTime, videoElement, TifoProblem };

declare global {
  interface Window {
    Tifo: typeof Tifo;
  }
}

window.Tifo = Tifo;
