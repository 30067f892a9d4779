import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { MATCH_SECONDS } from "#worker/services/demo-match/match-video.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment } from "./sdk-page.ts";
import type { PlayerName, Sighting } from "./sdk-players-app.ts";
import { CUE_SECONDS } from "./sdk-players-cues.ts";
import { PLAYER_NAMES, type PlayersHost, type PlayersPage, recorded, servePlayers } from "./sdk-players-page.ts";
import { createTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const deployment = new Deployment(url);

let browser: Browser;
let host: PlayersHost;
let channelId: string;

beforeAll(async () => {
  [browser, host, { channelId }] = await Promise.all([launchBrowser(), servePlayers(), createTestChannel(deployment)]);
});

afterEach(async () => {
  await deployment.clear(channelId);
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** Broadcasts an overlay for a moment of media time. Returns its id. */
async function broadcastAt(timecode: number): Promise<void> {
  const contents = [{ kind: "html", html: "<p>Goal</p>", position: "topLeft" }];
  const overlay = await deployment.create("/overlay/v1/", {
    ...{ siteId: "5eed00000000000000000001", name: "Timed", description: "Timed", type: "template", duration: 3600, contents },
  });
  await deployment.post(`/overlay/v1/broadcast/${overlay}`, { channelId, timecode });
}

async function sightings(page: Page, count: number): Promise<Sighting[]> {
  await page.waitForFunction((expected) => window.match.sightings.length >= expected, count);
  return await page.evaluate(() => window.match.sightings);
}

/** Moves the viewer to a moment of media time, and waits for its picture. */
async function seek({ page }: PlayersPage, seconds: number): Promise<void> {
  await page.evaluate((target) => window.match.player.seek?.(target), seconds);
  await page.waitForFunction((target) => Math.abs((window.match.pictureTime() ?? -9) - target) < 1.5, seconds % MATCH_SECONDS);
}

/** Times of the pictures on which overlays came, relative to their moments: none may be negative. */
function delays(seen: Sighting[], moments: Record<string, number>): number[] {
  return seen.map(({ broadcastId, appeared }) => (appeared ?? NaN) - (moments[broadcastId] ?? NaN));
}

/** The cues of the recorded match as each player reports them: an advertisement and a tag. */
const ID3 = { kind: "id3", frames: [{ key: "TXXX", info: "team", value: "Old Dock" }] };
const AD = { duration: 60, splice: "insert" };
const RANGE = { ...AD, kind: "daterange", scheme: "com.example.ad", ad: "Sponsor" };
const CUES: Record<PlayerName, object[]> = {
  "hls.js": [RANGE, ID3],
  "Shaka Player": [RANGE, ID3],
  "video.js": [RANGE, ID3],
  "dash.js": [ID3, { ...AD, kind: "scte35" }],
  "<video>": [],
};

describe.each(PLAYER_NAMES)("in %s", (name) => {
  test("no overlay and no cue comes before its picture, and each comes in its order, also after seeking and without eval", async () => {
    const moments = { first: 1.2, second: 2.22, third: 3.26, late: 90, last: 91.02 };
    const recording = Object.entries(moments).map(([id, timecode]) => recorded(id, timecode));
    const viewer = await host.open(browser, name, { origin: deployment.url, channelId, recording });
    const { page, problems } = viewer;
    await sightings(page, 3);
    await seek(viewer, 89);
    await sightings(page, 5);
    await seek(viewer, 0.5);
    const seen = await sightings(page, 8);
    expect(seen.slice(0, 8).map(({ broadcastId }) => broadcastId)).toEqual([
      "first",
      "second",
      "third",
      "late",
      "last",
      "first",
      "second",
      "third",
    ]);
    for (const delay of delays(seen, moments)) expect(delay).toBeGreaterThanOrEqual(0);
    // Each was reached twice.
    const expected = CUES[name].flatMap((cue) => [cue, cue]);
    await page.waitForFunction((count) => window.match.cues.length >= count, expected.length);
    const cues = await page.evaluate(() => window.match.cues);
    expect(cues.toSorted((one, other) => one.kind.localeCompare(other.kind))).toMatchObject(expected);
    for (const { at } of cues) expect(at).toBeGreaterThanOrEqual(CUE_SECONDS);
    expect(problems).toEqual([]);
  });

  test("an overlay with a timecode stays away while the video is paused before its moment", async () => {
    const { page } = await host.open(browser, name, { origin: deployment.url, channelId });
    await page.evaluate(() => window.match.player.pause?.());
    const now = (await page.evaluate(() => window.match.pictureTime())) ?? 0;
    await broadcastAt(now + 1);
    // The frame has arrived when what was broadcast after it is on the screen.
    await deployment.broadcast([{ kind: "html", html: "<p>At once</p>", position: "bottomLeft" }], {}, channelId);
    const [atOnce] = await sightings(page, 1);
    expect(await page.evaluate(() => window.match.sightings.length)).toBe(1);
    await page.evaluate(() => window.match.player.play?.());
    const seen = await sightings(page, 2);
    expect(atOnce?.appeared).toBeLessThan(now + 1);
    expect(seen[1]?.appeared).toBeGreaterThanOrEqual(now + 1);
  });
});

describe.each(["hls.js", "Shaka Player", "video.js", "dash.js"] as const)("live in %s", (name) => {
  const live = { live: true, programmeStart: 0 };

  /** Media time of a live stream is the time of day; the picture knows only where it is within the match. */
  const pictureOf = (timecode: number) => timecode % MATCH_SECONDS;

  test("a viewer half a minute behind sees an overlay half a minute later than a viewer at the edge", async () => {
    const options = { origin: deployment.url, channelId, ...live };
    const [edge, behind] = await Promise.all([host.open(browser, name, options), host.open(browser, name, options)]);
    await behind.page.waitForFunction(() => window.match.player.mediaTime() !== null);
    expect(await edge.page.evaluate(() => window.match.player.atLiveEdge())).toBe(true);
    const start = await behind.page.evaluate(() => {
      const { player, video } = window.match;
      // Read first: the player reports the new time at once.
      const time = player.mediaTime();
      video.currentTime -= 30;
      return time;
    });
    await behind.page.waitForFunction((before) => (window.match.player.mediaTime() ?? Infinity) < (before ?? 0) - 25, start);
    expect(await behind.page.evaluate(() => window.match.player.atLiveEdge())).toBe(false);
    const timecode = Math.ceil((await behind.page.evaluate(() => window.match.player.mediaTime())) ?? 0) + 1;
    await broadcastAt(timecode);
    const [now] = await sightings(edge.page, 1);
    const [later] = await sightings(behind.page, 1);
    const passed = (seen: Sighting | undefined) => ((seen?.appeared ?? NaN) - pictureOf(timecode) + MATCH_SECONDS) % MATCH_SECONDS;
    expect(passed(now)).toBeGreaterThan(15);
    expect(passed(later)).toBeLessThan(15);
  });

  test("an overlay right after a discontinuity comes with its picture", async () => {
    const viewer = await host.open(browser, name, { origin: deployment.url, channelId, ...live });
    // The last seam that can still be played, unless it is too near to the edge.
    await viewer.page.waitForFunction(() => window.match.player.mediaTime() !== null);
    const now = (await viewer.page.evaluate(() => window.match.player.mediaTime())) ?? 0;
    const seam = Math.floor((now - 5) / MATCH_SECONDS) * MATCH_SECONDS;
    await seek(viewer, seam - 2);
    await broadcastAt(seam + 0.48);
    const [seen] = await sightings(viewer.page, 1);
    expect(seen?.appeared).toBeGreaterThanOrEqual(0.48);
    expect(seen?.appeared).toBeLessThan(MATCH_SECONDS / 2);
  });
});
