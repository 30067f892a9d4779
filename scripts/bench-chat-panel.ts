// Part of `npm run bench`: measures the chat panel in Chromium, and prints the figures of each viewer as JSON. A separate script, because it uses
// the SDK, whose code is for browsers. `node scripts/bench-chat-panel.ts <seconds>`
import { launchBrowser } from "#test/browser/browser.ts";
import { type Viewer, watch } from "#test/browser/sdk-chat-load.ts";
import { serveChatPage } from "#test/browser/sdk-chat-page.ts";
import { say } from "./lib/report.mjs";

const VIEWERS: Viewer[] = [
  { name: "a viewer at the end" },
  { name: "a viewer who has scrolled up", scrolled: true },
  { name: "a moderator", moderator: true },
];

const seconds = Number(process.argv[2] ?? 60);
const [browser, host] = await Promise.all([launchBrowser(), serveChatPage()]);
const figures: object[] = [];
for (const viewer of VIEWERS) figures.push({ name: viewer.name, ...(await watch(browser, host.url, viewer, seconds)) });
say(JSON.stringify(figures));
host.close();
await browser.close();
