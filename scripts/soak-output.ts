// Part of `npm run soak`: the output page at 1920 × 1080 in Chromium, with one overlay a second. `node scripts/soak-output.ts <minutes>`
import { z } from "@hono/zod-openapi";
import type { Page } from "playwright-core";
import { launchBrowser } from "#test/browser/browser.ts";
import { Deployment, SITE } from "#test/browser/sdk-page.ts";
import { createTestChannel } from "#test/browser/sdk-test-channel.ts";
import { startServer } from "#test/browser/server.ts";
import { say } from "./lib/report.mjs";

/** A frame is dropped if the next one comes more than half a frame too late, at 60 a second. */
const LATE_MS = (1000 / 60) * 1.5;
const HTML = "<p style='padding:12px 20px;border-radius:12px;background:#000c;color:#fff;font-size:40px'>Overlay {{n}}</p>";

const Output = z.object({ url: z.string() });

interface FrameCounts {
  frames: number;
  dropped: number;
  worst: number;
}

declare global {
  interface Window {
    frameCounts: FrameCounts;
  }
}

const minutes = Number(process.argv[2] ?? 10);
const [server, browser] = await Promise.all([startServer(), launchBrowser()]);
const deployment = new Deployment(server.url);
const { channelId } = await createTestChannel(deployment);
const { url } = Output.parse(await deployment.post(`/overlay/v1/channels/${channelId}/outputs`, { name: "Soak" }));
const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });

// What this machine drops while nothing happens.
await page.goto("about:blank");
await countFrames(page);
await page.waitForTimeout(minutes * 60_000 * 0.1);
const idle = await page.evaluate(() => window.frameCounts);

await page.goto(url);
await page.locator("html[data-connection=live]").waitFor();
const overlayId = await deployment.create("/overlay/v1/", {
  siteId: SITE,
  ...{ name: "Soak", description: "One a second", type: "template", duration: 1 },
  contents: [{ kind: "html", html: HTML, position: "bottomLeft" }],
});
await show(0);
await page.locator(".tifo-overlay").waitFor();
await countFrames(page);
for (let n = 1; n <= minutes * 60; n++) await Promise.all([show(n), page.waitForTimeout(1000)]);
const busy = await page.evaluate(() => window.frameCounts);
for (const [name, { frames, dropped, worst }] of Object.entries({ idle, busy }))
  say(`${name}: ${frames} frames, ${dropped} dropped, longest ${worst.toFixed(1)} ms`);
await browser.close();
await server.stop();
process.exit(busy.dropped <= (idle.dropped / idle.frames) * busy.frames * 1.05 ? 0 : 1);

async function show(n: number): Promise<void> {
  await deployment.post(`/overlay/v1/broadcast/${overlayId}`, { channelId, variables: { n } });
}

async function countFrames(target: Page): Promise<void> {
  await target.evaluate((late) => {
    window.frameCounts = { frames: 0, dropped: 0, worst: 0 };
    let last: number | undefined;
    const count = (at: number) => {
      const gap = at - (last ?? at);
      last = at;
      const { frames, dropped, worst } = window.frameCounts;
      const missed = gap > late ? Math.round(gap / (1000 / 60)) - 1 : 0;
      window.frameCounts = { frames: frames + 1, dropped: dropped + missed, worst: Math.max(worst, gap) };
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  }, LATE_MS);
}
