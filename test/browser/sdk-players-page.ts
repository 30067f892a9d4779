import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { ROOT } from "#scripts/lib/root.mjs";
import type { OverlayShow } from "#sdk/channel/index.ts";
import { SEGMENT_COUNT } from "#worker/services/demo-match/match-video.ts";
import type { MatchOptions, PlayerName } from "./sdk-players-app.ts";
import { SITE } from "./sdk-page.ts";
import { withCues } from "./sdk-players-cues.ts";

/** What each player plays, in the folder of the match video. */
export const RECORDED: Record<PlayerName, string[]> = {
  "hls.js": ["match.m3u8"],
  "Shaka Player": ["match.m3u8"],
  "video.js": ["match.m3u8"],
  "dash.js": ["match.mpd"],
  "<video>": ["360p/init.mp4", ...Array.from({ length: SEGMENT_COUNT }, (_, index) => `360p/${index}.m4s`)],
};

export const PLAYER_NAMES: PlayerName[] = ["hls.js", "Shaka Player", "video.js", "dash.js", "<video>"];

const TYPES: Record<string, string> = { ".m3u8": "application/vnd.apple.mpegurl", ".mpd": "application/dash+xml" };

/** A page of a host app with every player, on its own origin. Its policy forbids `eval`. */
export interface PlayersHost {
  url: string;
  /** Plays a recording, or the live stream of the deployment. */
  open(
    browser: Browser,
    name: PlayerName,
    options: Omit<MatchOptions, "name" | "clientId" | "sources"> & { live?: boolean },
  ): Promise<PlayersPage>;
  close(): void;
}

export interface PlayersPage {
  page: Page;
  problems: string[];
}

export async function servePlayers(): Promise<PlayersHost> {
  const script = await bundle();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    if (pathname === "/")
      return void response.setHeader("Content-Security-Policy", POLICY).setHeader("Content-Type", "text/html").end(HTML);
    if (pathname === "/app.js") return void response.setHeader("Content-Type", "text/javascript").end(script);
    const file = pathname === "/tifo.css" ? "sdk/styles/tifo.css" : `docs/public${normalize(pathname)}`;
    readFile(join(ROOT, file)).then(
      (content) => response.setHeader("Content-Type", TYPES[extname(file)] ?? "video/mp4").end(withCues(pathname, content)),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The page's server listens on no port");
  const url = `http://127.0.0.1:${address.port}`;
  return { url, open: (browser, name, options) => open(browser, url, name, options), close: () => void server.close() };
}

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Match</title>
    <link rel="icon" href="data:," />
    <style>
      body { margin: 0; background: #0b0b12; }
      #player { position: relative; width: 960px; height: 540px; }
      video, .video-js { width: 960px; height: 540px; }
      #overlay { position: absolute; inset: 0; pointer-events: none; }
    </style>
  </head>
  <body><main id="player"><video muted playsinline></video><div id="overlay"></div></main><script src="/app.js"></script></body>
</html>`;

const POLICY = [
  ...["default-src 'self'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "font-src 'self' data:"],
  ...["connect-src 'self' ws: http://localhost:* http://127.0.0.1:*", "media-src blob: data:", "worker-src blob:", "frame-src http:"],
].join("; ");

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "test/browser/sdk-players-app.ts")],
    ...{ bundle: true, write: false, format: "iife", jsx: "automatic", target: "es2022", logLevel: "error" },
    define: { "process.env.NODE_ENV": '"production"', TIFO_SDK_VERSION: '"1.0.0"', TIFO_SCRIPT: "false" },
  });
  return outputFiles[0]?.text ?? "";
}

async function open(
  browser: Browser,
  url: string,
  name: PlayerName,
  { live = false, ...options }: Parameters<PlayersHost["open"]>[2],
): Promise<PlayersPage> {
  const page = await browser.newPage({ viewport: { width: 960, height: 540 } });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.text().includes("Content Security Policy") && problems.push(message.text()));
  await page.goto(url);
  const stream = name === "dash.js" ? "live.mpd" : "live.m3u8";
  const sources = live ? [`${options.origin}/demo/match/${stream}`] : RECORDED[name].map((file) => `${url}/match/${file}`);
  await page.evaluate((match) => window.playMatch(match), { ...options, name, clientId: SITE, sources });
  await page.waitForFunction(() => window.match.pictureTime() !== null);
  return { page, problems };
}

/** A broadcast of a recording. */
export function recorded(broadcastId: string, timecode: number, seconds = 1): OverlayShow {
  const startsAt = Date.UTC(2026, 10, 21, 15, 0) + timecode * 1000;
  return {
    type: "overlay.show",
    position: "topLeft",
    ...{ seq: 1, upTo: 1, broadcastId, overlayId: "5eed0000000000000000a001", cta: null, variables: {}, priority: 0 },
    ...{ startsAt, endsAt: startsAt + seconds * 1000, timecode },
    contents: [{ kind: "html", html: `<p style="background:#fff">${broadcastId}</p>`, position: "topLeft" }],
  };
}
