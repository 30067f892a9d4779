import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runOrFail } from "#scripts/lib/command.ts";
import { launchBrowser } from "./browser.ts";
import { installOffline, packagePath, serveFolder, watchApp, writeViteApp } from "./sdk-apps.ts";
import { Deployment } from "./sdk-page.ts";
import { createTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const deployment = new Deployment(url);

test("the site serves the package as a gzipped tarball", async () => {
  const response = await fetch(deployment.url + packagePath());
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect([...bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
});

test("a Vite app with the package renders panels, overlays and animations with its own React", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tifo-vite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { channelId } = await createTestChannel(deployment);
  writeViteApp(folder, deployment.url, channelId);
  await installOffline(folder);
  await runOrFail("vite", ["build", folder, "--logLevel", "warn"]);
  const [app, browser] = await Promise.all([serveFolder(join(folder, "dist")), launchBrowser()]);
  onTestFinished(async () => {
    app.close();
    await browser.close();
  });
  expect(
    await watchApp(browser, app.url, deployment, channelId, process.env.TIFO_SCREENSHOTS && join(process.env.TIFO_SCREENSHOTS, "vite.png")),
  ).toEqual([]);
});
