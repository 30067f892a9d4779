import { satteri } from "@astrojs/markdown-satteri";
import react from "@astrojs/react";
import sitemap from "@astrojs/sitemap";
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import starlightLinksValidator from "starlight-links-validator";
import { debugPages } from "./docs/integrations/debug-pages.ts";
import { diagrams } from "./docs/integrations/diagrams.ts";
import { errorWatcher } from "./docs/integrations/error-watcher.ts";
import { inlineScriptHashes } from "./docs/integrations/inline-script-hashes.ts";
import { lateSamples } from "./docs/integrations/late-samples.ts";
import { navbarBreakpoint } from "./docs/integrations/navbar-breakpoint.ts";
import { pageWeights } from "./docs/integrations/page-weights.ts";
import { publish } from "./docs/integrations/publish.ts";
import { relativeLinks } from "./docs/integrations/relative-links.ts";
import { resolvedRoutes } from "./docs/integrations/resolved-routes.ts";
import { scriptPriorities } from "./docs/integrations/script-priorities.ts";
import { measuredSizes } from "./docs/integrations/sdk-sizes.ts";
import { stackedTables } from "./docs/integrations/stacked-tables.ts";
import { sections } from "./docs/src/sidebars/index.ts";
import { origin, sources } from "./docs/src/site.ts";
import sdk from "./sdk/package.json" with { type: "json" };

export default defineConfig({
  site: origin,
  srcDir: "./docs/src",
  publicDir: "./docs/public",
  outDir: "./docs/dist",
  trailingSlash: "never",
  build: { format: "directory" },
  devToolbar: { enabled: false },
  vite: {
    plugins: [navbarBreakpoint(), errorWatcher(), measuredSizes()],
    build: { assetsInlineLimit: inlined },
    // The live channel imports the SDK's sources.
    define: { TIFO_SDK_VERSION: JSON.stringify(sdk.version), TIFO_SCRIPT: "false" },
  },
  markdown: { processor: satteri({ mdastPlugins: [diagrams, relativeLinks], hastPlugins: [stackedTables] }) },
  integrations: [
    starlight({
      title: "Tifo",
      description: "SDK and REST API documentation of Tifo, the open, Workers-native audience-engagement platform for live video.",
      logo: { src: "./docs/src/assets/logo.svg" },
      favicon: "/favicon.svg",
      customCss: ["./docs/src/styles/site.css", "./docs/src/styles/tables.css"],
      disable404Route: true,
      lastUpdated: true,
      // The site has its own search box; docs/integrations/publish.ts builds its index.
      pagefind: false,
      ...(sources === undefined ? {} : { editLink: { baseUrl: `${sources.replace(/\/$/, "")}/` } }),
      // Lines wrap, because code that scrolls sideways can't be reached by keyboard until a script has run.
      // No sample marks lines or words, so no page needs the styles for it.
      expressiveCode: { styleOverrides: { borderRadius: "0.5rem" }, defaultProps: { wrap: true }, textMarkers: false },
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      components: {
        Footer: "./docs/src/overrides/footer.astro",
        Head: "./docs/src/overrides/head.astro",
        Header: "./docs/src/overrides/header.astro",
        Hero: "./docs/src/overrides/hero.astro",
        MobileMenuFooter: "./docs/src/overrides/mobile-menu-footer.astro",
        PageFrame: "./docs/src/overrides/page-frame.astro",
        PageTitle: "./docs/src/overrides/page-title.astro",
        ThemeProvider: "./docs/src/overrides/theme-provider.astro",
        ThemeSelect: "./docs/src/overrides/theme-select.astro",
      },
      sidebar: sections.map(({ label, items }) => ({ label, items })),
      routeMiddleware: ["./docs/src/section-sidebar.ts", "./docs/src/last-updated.ts"],
      // The validator knows only pages made from Markdown. Links to operations and errors are tested with the samples.
      plugins: [
        starlightLinksValidator({
          exclude: ["/api/rest", "/errors{,#*}", "/quality{,#*}", "/openapi.json", "/docs/api-reference{,#*}", "/docs/api-reference/*"],
        }),
      ],
    }),
    react(),
    resolvedRoutes(),
    debugPages(),
    sitemap({ filter: (page) => !/\/(__debug|search$|404$)/.test(page) }),
    publish(),
    // After what reads the samples in all languages.
    lateSamples(),
    scriptPriorities(),
    inlineScriptHashes(),
    pageWeights(),
  ],
});

/** Inlines small styles. Scripts stay files, because the content security policy allows inline scripts only by their hashes. */
function inlined(file, content) {
  return file.endsWith(".css") && content.length < 4096;
}
