import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { z } from "@hono/zod-openapi";
import type { Browser } from "playwright-core";
import { runOrFail } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { type Deployment, SITE } from "./sdk-page.ts";

// Integrators' apps, in folders outside the project, so that nothing resolves to the project's node_modules.

const Integrity = z.object({ version: z.string() });
const Created = z.object({ _id: z.string() });
const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** The path at which the deployment serves the package. */
export function packagePath(): string {
  const { version } = Integrity.parse(JSON.parse(readFileSync(join(ROOT, "docs/public/sdk/integrity.json"), "utf8")));
  return `/sdk/tifo-web-${version}.tgz`;
}

/** Installs the tarball and its dependencies without a registry, with copies of the project's. */
export async function installOffline(folder: string): Promise<void> {
  const target = join(folder, "node_modules/@tifo/web");
  mkdirSync(target, { recursive: true });
  await runOrFail("tar", ["-xzf", join(ROOT, "docs/public", packagePath()), "-C", target, "--strip-components=1"]);
  for (const name of ["react", "react-dom", "scheduler", "openapi-fetch"])
    cpSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), { recursive: true, dereference: true });
}

/** A component that renders an event's panels and overlays in the app's own React tree. */
function watchComponent(origin: string, channelId: string): string {
  return `"use client";
import { useEffect, useState } from "react";
import { configure, type TifoEventViewModel, userDidStartWatchingEvent } from "@tifo/web";
import { TifoEventProvider, TifoOverlay, TifoPanel } from "@tifo/web/react";
import "@tifo/web/tifo.css";

export function Watch() {
  const [event, setEvent] = useState<TifoEventViewModel | null>(null);
  useEffect(() => {
    configure({ clientId: "${SITE}", origin: "${origin}" });
    void userDidStartWatchingEvent({ channelId: "${channelId}" }).then(setEvent);
  }, []);
  return (
    <main style={{ display: "grid", gridTemplateColumns: "1fr 400px", height: "100vh" }}>
      <div style={{ position: "relative", background: "#12482f" }}>
        {event && <TifoEventProvider event={event}><TifoOverlay safeArea={24} /></TifoEventProvider>}
      </div>
      {event && <TifoEventProvider event={event}><TifoPanel /></TifoEventProvider>}
    </main>
  );
}
`;
}

export function writeViteApp(folder: string, origin: string, channelId: string): void {
  write(folder, {
    "package.json": '{ "name": "vite-app", "private": true, "type": "module" }',
    "tsconfig.json": '{ "compilerOptions": { "jsx": "react-jsx" } }',
    "index.html":
      '<!doctype html><title>Vite</title><link rel="icon" href="data:,"><div id="app"></div><script type="module" src="/main.tsx"></script>',
    "main.tsx": `import { createRoot } from "react-dom/client";
import { Watch } from "./watch";
createRoot(document.querySelector("#app")!).render(<Watch />);`,
    "watch.tsx": watchComponent(origin, channelId),
  });
}

export function writeNextApp(folder: string, origin: string, channelId: string): void {
  write(folder, {
    "package.json": '{ "name": "next-app", "private": true }',
    "app/layout.tsx": `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;
}`,
    "app/page.tsx": 'import { Watch } from "./watch";\n\nexport default function Page() {\n  return <Watch />;\n}',
    "app/watch.tsx": watchComponent(origin, channelId),
  });
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Serves a bundler's output. */
export async function serveFolder(folder: string): Promise<{ url: string; close: () => void }> {
  const server = createServer(({ url = "/" }, response) => {
    const file = join(folder, url === "/" ? "index.html" : new URL(url, "http://app").pathname);
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream").end(readFileSync(file));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server isn't listening on a port");
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}

/** What the animation runtime says of a file that is none. */
const OF_THE_RUNTIME = ["Bad header", "The file failed to load"];

/** Opens an app and waits for panels, an html overlay and the animation runtime, which rejects its file; returns the page's other errors. */
export async function watchApp(
  browser: Browser,
  url: string,
  deployment: Deployment,
  channelId: string,
  screenshot?: string,
): Promise<string[]> {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(url);
  await page.locator(".tifo-tabs [aria-selected=true]").waitFor();
  await page.getByText("Who scores next?").waitFor();
  await deployment.broadcast([{ kind: "html", html: "<p>Goal for Harbour City</p>", position: "bottomLeft" }], {}, channelId);
  await page.frameLocator(".tifo-overlay-frame").getByText("Goal for Harbour City").waitFor();
  if (screenshot !== undefined) await page.screenshot({ path: screenshot });
  const form = new FormData();
  form.set("file", new File(["RIVE\x07\0 and nothing more"], "goal.riv"));
  const keys = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
  const uploaded: unknown = await (await fetch(`${deployment.url}/media/v1/`, { method: "POST", headers: keys, body: form })).json();
  const runtime = page.waitForResponse((response) => response.url().endsWith("/rive.wasm") && response.ok());
  const rejected = page.waitForEvent("console", (message) => message.text().includes("the animation could not be shown"));
  const { _id: mediaId } = Created.parse(uploaded);
  await deployment.broadcast([{ kind: "rive", mediaId, fileName: "goal.riv", position: "center" }], {}, channelId);
  await Promise.all([runtime, rejected]);
  await page.close();
  return problems.filter((problem) => !OF_THE_RUNTIME.includes(problem));
}
