import type { AstroIntegration } from "astro";

/** Adds the pages under `/__debug/`. Astro ignores folders in `pages` whose name begins with an underscore. */
export function debugPages(): AstroIntegration {
  return {
    name: "tifo-debug-pages",
    hooks: {
      "astro:config:setup": ({ injectRoute }) => {
        injectRoute({ pattern: "/__debug/[view]", entrypoint: "./docs/src/debug/[view].astro", prerender: true });
      },
    },
  };
}
