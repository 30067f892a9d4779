import react from "@astrojs/react";
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import starlightLinksValidator from "starlight-links-validator";
import { inlineScriptHashes } from "./docs/integrations/inline-script-hashes.ts";
import { navbarBreakpoint } from "./docs/integrations/navbar-breakpoint.ts";
import { sections } from "./docs/src/sidebars/index.ts";

export default defineConfig({
  srcDir: "./docs/src",
  publicDir: "./docs/public",
  outDir: "./docs/dist",
  trailingSlash: "never",
  build: { format: "directory" },
  devToolbar: { enabled: false },
  vite: { plugins: [navbarBreakpoint()] },
  integrations: [
    starlight({
      title: "Tifo",
      description: "SDK and REST API documentation of Tifo, the open, Workers-native audience-engagement platform for live video.",
      logo: { src: "./docs/src/assets/logo.svg" },
      favicon: "/favicon.svg",
      customCss: ["./docs/src/styles/site.css"],
      disable404Route: true,
      lastUpdated: true,
      expressiveCode: { styleOverrides: { borderRadius: "0.5rem" } },
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      components: {
        Header: "./docs/src/overrides/header.astro",
        Hero: "./docs/src/overrides/hero.astro",
        MobileMenuFooter: "./docs/src/overrides/mobile-menu-footer.astro",
        PageFrame: "./docs/src/overrides/page-frame.astro",
        ThemeProvider: "./docs/src/overrides/theme-provider.astro",
        ThemeSelect: "./docs/src/overrides/theme-select.astro",
      },
      sidebar: sections.map(({ label, items }) => ({ label, items })),
      routeMiddleware: "./docs/src/section-sidebar.ts",
      // Pages that Markdown didn't make are unknown to the validator.
      plugins: [starlightLinksValidator({ exclude: ["/api/rest", "/errors", "/openapi.json"] })],
    }),
    react(),
    inlineScriptHashes(),
  ],
});
