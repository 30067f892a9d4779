// Part of `npm run soak`: installs the SDK by URL in new Vite and Next.js apps, with their latest releases from the registry, and checks that
// each renders panels, overlays and animations in Chromium. With TIFO_SCREENSHOTS=<folder> it saves a screenshot of each.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launchBrowser } from "#test/browser/browser.ts";
import { packagePath, serveFolder, watchApp, writeNextApp, writeViteApp } from "#test/browser/sdk-apps.ts";
import { Deployment } from "#test/browser/sdk-page.ts";
import { createTestChannel } from "#test/browser/sdk-test-channel.ts";
import { startServer } from "#test/browser/server.ts";
import { runOrFail } from "./lib/command.ts";
import { guard, Problem, say } from "./lib/report.mjs";

interface App {
  url: string;
  close: () => void;
}

const APPS: Record<string, { packages: string[]; write: typeof writeViteApp; start: (folder: string) => Promise<App> }> = {
  vite: { packages: ["vite"], write: writeViteApp, start: buildVite },
  next: { packages: ["next"], write: writeNextApp, start: buildNext },
};

await guard(async () => {
  const [server, browser] = await Promise.all([startServer(), launchBrowser()]);
  try {
    const deployment = new Deployment(server.url);
    for (const [name, { packages, write, start }] of Object.entries(APPS)) {
      const folder = mkdtempSync(join(tmpdir(), `tifo-${name}-`));
      const { channelId } = await createTestChannel(deployment);
      write(folder, server.url, channelId);
      await npmInstall(folder, [server.url + packagePath(), "react@19", "react-dom@19", ...packages]);
      const app = await start(folder);
      try {
        const screenshot = process.env.TIFO_SCREENSHOTS && join(process.env.TIFO_SCREENSHOTS, `${name}.png`);
        const problems = await watchApp(browser, app.url, deployment, channelId, screenshot);
        if (problems.length > 0) throw new Problem(`The ${name} app reported: ${problems.join("; ")}`);
        say(`${name}: renders panels, overlays and animations`);
      } finally {
        app.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }
  } finally {
    await browser.close();
    await server.stop();
  }
});
process.exit();

async function npmInstall(folder: string, packages: string[]): Promise<void> {
  await runOrFail("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", ...packages]);
}

async function buildVite(folder: string): Promise<App> {
  await runOrFail(join(folder, "node_modules/.bin/vite"), ["build", folder]);
  return serveFolder(join(folder, "dist"));
}

/** Next.js 16 and later build with Turbopack. */
async function buildNext(folder: string): Promise<App> {
  const next = join(folder, "node_modules/.bin/next");
  await runOrFail(next, ["build", folder], { env: { NEXT_TELEMETRY_DISABLED: "1" } });
  const child = spawn(next, ["start", folder, "--port", "0", "--hostname", "127.0.0.1"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return { url, close: () => void child.kill() };
  }
  throw new Problem("The Next.js server exited before it was listening.");
}
