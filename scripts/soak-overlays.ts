// Part of `npm run soak`: 20 overlays a second for ten minutes on one page in Chromium. `node scripts/soak-overlays.ts <minutes>`
import { launchBrowser } from "#test/browser/browser.ts";
import { Deployment, serveHostPage } from "#test/browser/sdk-page.ts";
import { showRapidOverlays } from "#test/browser/sdk-soak.ts";
import { createTestChannel } from "#test/browser/sdk-test-channel.ts";
import { startServer } from "#test/browser/server.ts";
import { say } from "./lib/report.mjs";

const SPELL_SECONDS = 30;
const MAX_GROWTH = 1.05;

const minutes = Number(process.argv[2] ?? 10);
const [server, browser] = await Promise.all([startServer(), launchBrowser()]);
const deployment = new Deployment(server.url);
const [host, { channelId }] = await Promise.all([serveHostPage(server.url), createTestChannel(deployment)]);
const spells = Math.ceil((minutes * 60) / SPELL_SECONDS);
const { sent, unseen, kept, longTasks, problems } = await showRapidOverlays({
  ...{ browser, deployment, hostUrl: host.url, channelId },
  ...{ spells, seconds: SPELL_SECONDS },
});
say(`${sent} overlays, ${unseen.length} unseen, long tasks ${longTasks.ours} of ${longTasks.idle} on an idle page`);
say(`kB of heap: ${kept.map(({ heap }) => Math.round(heap / 1000)).join(" ")}; nodes: ${kept.map(({ nodes }) => nodes).join(" ")}`);
say(JSON.stringify({ problems }));
host.close();
await browser.close();
await server.stop();
// The browser's own memory grows at first, because it keeps compiled code.
const [settled, last] = [kept[Math.floor(spells / 4)]?.heap ?? 0, kept.at(-1)?.heap ?? 0];
const stable = longTasks.ours <= longTasks.idle * MAX_GROWTH && last <= settled * MAX_GROWTH;
process.exit(stable && unseen.length + problems.length === 0 ? 0 : 1);
