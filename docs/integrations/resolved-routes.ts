import type { AstroIntegration, IntegrationResolvedRoute } from "astro";

const MODULE = "virtual:tifo/routes";

/** Provides the routes that the site generator has resolved as the module `virtual:tifo/routes`, for the debug pages. */
export function resolvedRoutes(): AstroIntegration {
  let resolved: IntegrationResolvedRoute[] = [];
  const described = (): unknown[] =>
    resolved.map(({ pattern, type, origin, entrypoint, params }) => ({ pattern, type, origin, source: entrypoint, params }));
  return {
    name: "tifo-resolved-routes",
    hooks: {
      "astro:config:setup": ({ updateConfig }) => {
        const plugin = {
          name: "tifo-resolved-routes",
          resolveId: (id: string): string | undefined => (id === MODULE ? `\0${MODULE}` : undefined),
          load: (id: string): string | undefined => (id === `\0${MODULE}` ? `export default ${JSON.stringify(described())};` : undefined),
        };
        updateConfig({ vite: { plugins: [plugin] } });
      },
      "astro:routes:resolved": ({ routes }) => {
        resolved = routes;
      },
    },
  };
}
