import type { Starter } from "./starter.ts";

/** One HTML file with the script of the deployment. */
export const plain: Starter = {
  title: "Plain page",
  packages: false,
  next: ["npx serve .", "Open http://localhost:3000"],
  files: ({ origin, siteId, channelId }) => ({
    "index.html": `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Match day</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${origin}/sdk/tifo.css" />
    <style>
      body { margin: 0; display: grid; grid-template-columns: 1fr 360px; height: 100vh; background: #0b0b12; }
      #stage { position: relative; align-self: center; aspect-ratio: 16 / 9; background: #12482f; }
      #overlay { position: absolute; inset: 0; pointer-events: none; }
      video { display: block; width: 100%; height: 100%; }
      #panel { height: 100vh; }
    </style>
  </head>
  <body>
    <div id="stage">
      <!-- Your player. Pass it to userDidStartWatchingEvent as \`player\` for overlays in sync with the video. -->
      <video controls playsinline></video>
      <div id="overlay"></div>
    </div>
    <div id="panel"></div>
    <script src="${origin}/sdk/tifo.js"></script>
    <script type="module">
      Tifo.configure({ clientId: "${siteId}" });
      await Tifo.userDidStartWatchingEvent({ channelId: "${channelId}" });
      Tifo.renderOverlay(document.querySelector("#overlay"));
      Tifo.renderPanel(document.querySelector("#panel"));
    </script>
  </body>
</html>
`,
  }),
};
