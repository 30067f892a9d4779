import type { Plugin } from "vite";

const STARLIGHT_FILE = /@astrojs[\\/]starlight[\\/]dist/;
const STARLIGHT_DESKTOP = /(min-width:\s*|width\s*>=\s*)50r?em/g;

/** Moves Starlight's fixed desktop breakpoint from 800 to 997 px, to fit a navbar with seven links. */
export function navbarBreakpoint(): Plugin {
  return {
    name: "tifo-navbar-breakpoint",
    enforce: "pre",
    transform(code, id) {
      if (!STARLIGHT_FILE.test(id) || !STARLIGHT_DESKTOP.test(code)) return undefined;
      return { code: code.replace(STARLIGHT_DESKTOP, "min-width: 62.3125em"), map: null };
    },
  };
}
