// Part of `npm run bench`: plays the match video in each player, and prints the seconds from each overlay's picture to the overlay as JSON. A
// separate script, because it uses the SDK, whose code is for browsers. `node scripts/bench-players.ts <deployment> <seconds>`
import { setTimeout as sleep } from "node:timers/promises";
import { launchBrowser } from "#test/browser/browser.ts";
import { PLAYER_NAMES, recorded, servePlayers } from "#test/browser/sdk-players-page.ts";
import { CHANNEL } from "#test/browser/sdk-page.ts";
import { say } from "./lib/report.mjs";

/** Not a multiple of a picture's duration, so that overlays come anywhere within one. */
const INTERVAL_SECONDS = 1.013;
/** The overlay of the previous moment has ended by then. */
const OVERLAY_SECONDS = 0.7;
const FIRST_SECONDS = 5;

const origin = process.argv[2] ?? "";
const seconds = Number(process.argv[3] ?? 60);
const moments = Array.from({ length: Math.floor(seconds / INTERVAL_SECONDS) }, (_, index) => FIRST_SECONDS + index * INTERVAL_SECONDS);
const [browser, host] = await Promise.all([launchBrowser(), servePlayers()]);
const figures: { name: string; expected: number; delays: number[]; early: number }[] = [];
for (const name of PLAYER_NAMES) {
  const { page } = await host.open(browser, name, { origin, channelId: CHANNEL });
  await page.evaluate(
    (broadcasts) => window.match.replay(broadcasts),
    moments.map((timecode, index) => recorded(String(index), timecode, OVERLAY_SECONDS)),
  );
  await page.waitForFunction((end) => window.match.video.currentTime > end, FIRST_SECONDS + seconds + 1);
  await sleep(500);
  const seen = await page.evaluate(() => window.match.sightings);
  const since = (id: string, time: number | null) => (time === null ? [] : [time - (moments[Number(id)] ?? NaN)]);
  figures.push({
    name,
    expected: moments.length,
    delays: seen.flatMap(({ broadcastId, painted }) => since(broadcastId, painted)),
    early: seen.flatMap(({ broadcastId, appeared }) => since(broadcastId, appeared)).filter((delay) => delay < 0).length,
  });
  await page.close();
}
say(JSON.stringify(figures));
host.close();
await browser.close();
