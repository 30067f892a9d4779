// Part of `npm run soak`: runs `tifo init` for each template, installs and builds the project with the latest releases of its packages from
// the registry, starts it as its author would, and checks in Chromium that it shows panels, overlays and animations. With
// TIFO_SCREENSHOTS=<folder> it saves a screenshot of each; names as arguments select templates.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launchBrowser } from "#test/browser/browser.ts";
import { serveFolder, watchApp } from "#test/browser/sdk-apps.ts";
import { Deployment, SITE } from "#test/browser/sdk-page.ts";
import { createTestChannel } from "#test/browser/sdk-test-channel.ts";
import { startServer } from "#test/browser/server.ts";
import { runOrFail } from "./lib/command.ts";
import { guard, Problem, say } from "./lib/report.mjs";

interface App {
  url: string;
  close: () => void;
}

const STARTERS: Record<string, (folder: string) => Promise<App>> = {
  plain: serveFolder,
  vite: (folder) => develop(folder, "vite", ["--port", "0"]),
  next: (folder) => develop(folder, "next", ["dev", "--port", "0"]),
};

const wanted = process.argv.slice(2);

await guard(async () => {
  const [server, browser] = await Promise.all([startServer(), launchBrowser()]);
  try {
    const deployment = new Deployment(server.url);
    for (const [name, start] of Object.entries(STARTERS)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const parent = mkdtempSync(join(tmpdir(), "tifo-init-"));
      const folder = join(parent, name);
      const { channelId } = await createTestChannel(deployment);
      const site = ["--origin", server.url, "--site", SITE, "--channel", channelId];
      await runOrFail("node", ["cli/dist/tifo.js", "init", folder, "--template", name, ...site]);
      if (name !== "plain") {
        await runOrFail("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund"]);
        // Checks the types too.
        await runOrFail("npm", ["run", "build", "--prefix", folder], { env: { NEXT_TELEMETRY_DISABLED: "1" } });
      }
      const app = await start(folder);
      try {
        const screenshot = process.env.TIFO_SCREENSHOTS && join(process.env.TIFO_SCREENSHOTS, `init-${name}.png`);
        const problems = await watchApp(browser, app.url, deployment, channelId, screenshot);
        if (problems.length > 0) throw new Problem(`The ${name} project reported: ${problems.join("; ")}`);
        say(`tifo init ${name}: builds, and shows panels, overlays and animations`);
      } finally {
        app.close();
        rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
      }
    }
  } finally {
    await browser.close();
    await server.stop();
  }
});
process.exit();

/** The development server of a project, in a process group of its own: it starts processes that outlive it. */
async function develop(folder: string, command: string, args: string[]): Promise<App> {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1" };
  const child = spawn(join(folder, "node_modules/.bin", command), args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const { pid } = child;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/localhost:\d+/.exec(line)?.[0];
    if (url !== undefined && pid !== undefined) return { url, close: () => void process.kill(-pid, "SIGKILL") };
  }
  throw new Problem(`The development server in ${folder} exited before it was listening.`);
}
