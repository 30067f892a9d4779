import { createTifo } from "../core/core.ts";
import * as renderer from "../react/mount.tsx";
import { createLegacy } from "./legacy.ts";

// The older global interface, `window.TifoLegacy`. New pages use `/sdk/tifo.js`; the docs describe the migration.

const script = document.currentScript;

export const TifoLegacy = createLegacy(createTifo(renderer, script instanceof HTMLScriptElement ? new URL(script.src).origin : undefined));

declare global {
  interface Window {
    TifoLegacy: typeof TifoLegacy;
  }
}

window.TifoLegacy = TifoLegacy;
