import { configFile, json, type Starter, STYLES } from "./starter.ts";

/** TypeScript without a framework, built by Vite. */
export const vite: Starter = {
  title: "Vite",
  packages: true,
  next: ["npm install", "npm run dev"],
  files: (site) => ({
    "package.json": json({
      name: site.name,
      private: true,
      type: "module",
      scripts: { dev: "vite", build: "tsc && vite build", preview: "vite preview" },
      dependencies: { "@tifo/web": site.sdk, react: "^19.0.0", "react-dom": "^19.0.0" },
      devDependencies: { typescript: "^5.9.0", vite: "^8.0.0" },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "ES2022",
        lib: ["ES2022", "DOM", "DOM.Iterable"],
        module: "ESNext",
        moduleResolution: "bundler",
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: ["vite/client"],
      },
      include: ["src"],
    }),
    "index.html": `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Match day</title>
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div class="match">
      <div class="stage">
        <video controls playsinline></video>
        <div class="overlay" id="overlay"></div>
      </div>
      <div class="panel" id="panel"></div>
    </div>
    <script type="module" src="/src/main.ts"></script>
  </body>
</html>
`,
    "src/tifo.config.ts": configFile(site),
    "src/style.css": STYLES,
    "src/main.ts": `import { configure, renderOverlay, renderPanel, userDidStartWatchingEvent } from "@tifo/web";
import "@tifo/web/tifo.css";
import "./style.css";
import { CHANNEL_ID, ORIGIN, SITE_ID } from "./tifo.config";

configure({ clientId: SITE_ID, origin: ORIGIN });

// Pass your player as \`player\` for overlays in sync with the video.
await userDidStartWatchingEvent({ channelId: CHANNEL_ID });

const overlay = document.querySelector("#overlay");
const panel = document.querySelector("#panel");
if (overlay) renderOverlay(overlay);
if (panel) renderPanel(panel);
`,
    ".gitignore": "node_modules\ndist\n",
  }),
};
