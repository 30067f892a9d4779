import { createServer } from "node:http";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import type { Browser, Page } from "playwright-core";
import { ROOT } from "#scripts/lib/root.mjs";
import type { Rendered, RenderedOverlay } from "#sdk/model/core.ts";
import type { Tifo } from "#sdk/script/tifo.ts";

export const SITE = "5eed00000000000000000001";
export const CHANNEL = "5eed0000000000000000c001";

const Integrity = z.object({ version: z.string(), files: z.record(z.string(), z.string()) });
const Tokens = z.object({ jwt: z.string() });
const Created = z.object({ _id: z.string() });

/** The calls that the host page has received. */
export interface Recorded {
  panelEvents: { type: string }[];
  actions: string[];
  impressions: { kind: string; id: string; broadcastId?: string }[];
  exits: string[];
  /** Edges over which arrow keys moved focus into Tifo's elements. */
  entries: string[];
}

declare global {
  interface Window {
    Tifo: typeof Tifo;
    recorded: Recorded;
    start: (options: StartOptions) => Promise<void>;
    panel: Rendered;
    overlay: RenderedOverlay;
    /** Number of frames added to the page, for the test that counts them. */
    frameCount: number;
    /** Renders or removes the React app, in the test that has one. */
    show: (shown: boolean) => void;
  }
}

export interface StartOptions {
  token?: string;
  mode?: "light" | "dark" | "system";
  channelId?: string;
  language?: string;
  /** Whether the page asks for the site's own HTML, below the player. */
  siteHtml?: boolean;
}

/** An integrator's player page on its own origin, with only the script and style sheet from Tifo. */
export async function serveHostPage(deployment: string): Promise<{ url: string; close: () => void }> {
  const html = hostPage(deployment);
  const server = createServer((_request, response) => response.setHeader("Content-Type", "text/html; charset=utf-8").end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The host page's server isn't listening on a port");
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}

function hostPage(deployment: string): string {
  const { version, files } = Integrity.parse(JSON.parse(readFileSync(join(ROOT, "docs/public/sdk/integrity.json"), "utf8")));
  const release = `${deployment}/sdk/releases/${version}`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Match day</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${release}/tifo.css" integrity="${files["tifo.css"] ?? ""}" crossorigin="anonymous" />
    <script src="${release}/tifo.js" integrity="${files["tifo.js"] ?? ""}" crossorigin="anonymous"></script>
    <style>
      body { margin: 0; display: grid; grid-template-columns: 1fr 400px; min-height: 100vh; background: #0b0b12; }
      #player { position: relative; aspect-ratio: 16 / 9; background: linear-gradient(#17133a, #2a2263 36%, #12482f 36.4%, #1b6b43); overflow: hidden; }
      #overlay { position: absolute; inset: 0; pointer-events: none; }
      #panel { height: 100vh; }
      @media (max-width: 700px) { body { grid-template-columns: 1fr; grid-template-rows: auto 1fr; } #panel { height: auto; min-height: 440px; } }
    </style>
  </head>
  <body>
    <main><div id="player"><div id="overlay"></div></div><div id="site-html"></div></main>
    <aside id="panel" aria-label="Panels"></aside>
    <script>
      window.recorded = { panelEvents: [], actions: [], impressions: [], exits: [], entries: [] };
      window.start = async ({ token, mode, language, siteHtml, channelId = "${CHANNEL}" }) => {
        Tifo.configure({
          clientId: "${SITE}",
          origin: "${deployment}",
          mode,
          language,
          codeInjection: siteHtml ? document.querySelector("#site-html") : undefined,
          delegate: {
            getUserToken: () => token ?? null,
            onPanelEvent: (event) => recorded.panelEvents.push(event),
            trackAction: ({ name }) => recorded.actions.push(name),
            trackImpression: (impression) => recorded.impressions.push(impression),
            startFocusManagement: (handover) => {
              recorded.entries.push(handover.from);
              window.panel.focus(handover);
            },
          },
        });
        await Tifo.userDidStartWatchingEvent({ channelId });
        window.overlay = Tifo.renderOverlay(document.querySelector("#overlay"));
        window.panel = Tifo.renderPanel(document.querySelector("#panel"));
      };
    </script>
  </body>
</html>`;
}

/** `priority` belongs to the broadcast, the rest to its overlay. */
export interface BroadcastFields {
  priority?: number;
  cta?: object;
}

/** Calls the deployment's REST API with the demo site's key. */
export class Deployment {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async post(path: string, body: unknown, headers: Record<string, string> = { "Tifo-Developer-Key": "tifo_dev_demo" }): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method: "POST",
      headers: { "Tifo-Client-Id": SITE, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const json: unknown = await response.json();
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${JSON.stringify(json)}`);
    return json;
  }

  async create(path: string, body: unknown, headers?: Record<string, string>): Promise<string> {
    return Created.parse(await this.post(path, body, headers))._id;
  }

  async delete(path: string): Promise<void> {
    const headers = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
    const response = await fetch(this.url + path, { method: "DELETE", headers });
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  }

  /** A token of one of the demo's accounts. */
  async signIn(role: "viewer" | "admin" = "viewer"): Promise<string> {
    const account = { email: `${role}@demo.example`, password: `demo-${role}-pass`, siteId: SITE };
    return Tokens.parse(await this.post("/auth/v2/login", account, {})).jwt;
  }

  /** Sends an overlay to the demo's channel. */
  async broadcast(contents: object[], { priority = 0, ...fields }: BroadcastFields = {}, channelId = CHANNEL): Promise<void> {
    const overlay = { siteId: SITE, name: "Test", description: "Test", type: "template", duration: 3600, contents, ...fields };
    const id = await this.create("/overlay/v1/", overlay);
    await this.post(`/overlay/v1/broadcast/${id}`, { channelId, priority });
  }

  async clear(channelId = CHANNEL): Promise<void> {
    await this.post(`/overlay/v1/clear-broadcast/${channelId}`, {});
  }
}

/** Opens a page that shows the event, and collects its errors. */
export async function openHostPage(
  browser: Browser,
  url: string,
  options: StartOptions,
  viewport = { width: 1280, height: 720 },
  reducedMotion: "reduce" | "no-preference" = "no-preference",
): Promise<{ page: Page; problems: string[] }> {
  const page = await browser.newPage({ viewport, reducedMotion });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await page.evaluate((startOptions) => window.start(startOptions), options);
  await page.locator(".tifo-tabs [aria-selected=true]").waitFor();
  return { page, problems };
}
