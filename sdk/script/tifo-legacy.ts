import { createTifo } from "../core/core.ts";
import * as renderer from "../react/mount.tsx";
import { createLegacy } from "./legacy.ts";
import { scriptOrigin } from "./script-origin.ts";

// The older global interface, `window.TifoLegacy`. New pages use `/sdk/tifo.js`; the docs describe the migration.

export const TifoLegacy = createLegacy(createTifo(renderer, scriptOrigin("tifo-legacy.js")));

declare global {
  interface Window {
    TifoLegacy: typeof TifoLegacy;
  }
}

window.TifoLegacy = TifoLegacy;
