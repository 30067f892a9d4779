import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { ROOT } from "#scripts/lib/root.mjs";
import { openapiPlugin } from "./api/openapi-plugin.ts";
import sdk from "#sdk/package.json" with { type: "json" };

/** Where the build's files are served: outside `/studio/`, whose paths all show the application (docs/public/_redirects). */
export const ASSETS = "_studio";

/** React Aria has its texts in thirty languages; Studio is in English. */
const onlyEnglish: Plugin = {
  name: "only-english",
  load: { filter: { id: /\/react-(aria|stately)\/.*\/intl\/.*\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/ }, handler: () => "export default {};" },
};

/** What every screen loads, in two files instead of a dozen, whose sizes and requests add up. */
const SHARED = [
  { name: "client", test: /\/sdk\/client\// },
  { name: "parts", test: /\/studio\/ui\/(button|card-skeleton|icon|page-header|storage|use-now)\./ },
];

/** Builds into the folder that the deployment serves, next to the docs. */
export default defineConfig({
  root: ROOT,
  publicDir: false,
  logLevel: "warn",
  plugins: [react(), onlyEnglish, openapiPlugin()],
  define: { TIFO_SDK_VERSION: JSON.stringify(sdk.version), TIFO_SCRIPT: "false" },
  build: {
    outDir: "docs/dist",
    emptyOutDir: false,
    assetsDir: ASSETS,
    // A data: script or style would be blocked by the content security policy.
    assetsInlineLimit: 0,
    manifest: `${ASSETS}/manifest.json`,
    target: "es2022",
    rolldownOptions: { input: "studio/index.html", output: { codeSplitting: { groups: SHARED } } },
  },
});
