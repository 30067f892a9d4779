// Part of `npm run bench`: an operator's Run screen in Chromium, with viewers, a chat and a long log. Prints the milliseconds from each
// press of Take to the last viewer, and how smooth the screen is, as JSON. `node scripts/bench-studio.ts <takes> <rows> <seconds>`
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { Crowd } from "#bench/lib/viewers.ts";
import { launchBrowser } from "#test/browser/browser.ts";
import { startServer } from "#test/browser/server.ts";
import { CHANNEL, Deployment, SITE } from "#test/browser/sdk-page.ts";
import { itemsOf, openRun } from "#test/browser/studio-run-page.ts";
import { ChatClient } from "#test/kills/chat-kills-client.ts";
import { say } from "./lib/report.mjs";

const VIEWERS = 1_000;
/** The demo's overlay. */
const GOAL_TEMPLATE = "5eed0000000000000000a001";
/** Shorter than the overlay's frame, longer than any other. */
const BYTES = 250;
const WRITERS = 100;
const MESSAGES_PER_SECOND = 50;
const STAFF = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };

const Rundown = z.object({ _id: z.string(), items: z.tuple([z.object({ _id: z.string() })]).rest(z.unknown()) });
const GOAL = { kind: "broadcast", name: "Goal", overlayId: GOAL_TEMPLATE, broadcast: { variables: { scorer: "Ada Moreno", minute: 17 } } };
const NOTE = { kind: "note", name: "Kick-off" };

const [takes = 30, rows = 5_000, seconds = 15] = process.argv.slice(2).map(Number);
const server = await startServer();
const deployment = new Deployment(server.url);
// Before anybody watches: each take would wait for all of them.
const long = await longLog();
const [browser, crowd] = [await launchBrowser(), new Crowd(BYTES)];
const ping = setInterval(() => crowd.viewers.forEach((viewer) => viewer.send("ping")), 10_000);
const paths = Array.from({ length: VIEWERS }, (_, viewer) => `/realtime/v1/channels/${CHANNEL}?clientId=${SITE}&deviceId=viewer-${viewer}`);
await crowd.connect(Number(new URL(server.url).port), paths, 64, "opened");
const show = await newRundown(
  "Takes",
  Array.from({ length: takes + 1 }, () => GOAL),
);
const { page } = await openRun(browser, server.url, "admin");
const times = await takeAll(page);
const smoothness = await scrollLog(page);
say(JSON.stringify({ times, ...smoothness }));
clearInterval(ping);
crowd.leave();
await browser.close();
await server.stop();
process.exit();

/** Presses Take on each item, and waits for its overlay on the last viewer. */
async function takeAll(page: Page): Promise<number[]> {
  await page.getByLabel("Rundown to run").selectOption({ value: show });
  await itemsOf(page).first().waitFor();
  await page.evaluate(() => {
    const note = ({ key, timeStamp }: KeyboardEvent): void => void (key === " " && (document.body.dataset["pressed"] = String(timeStamp)));
    addEventListener("keydown", note, true);
  });
  const measured: number[] = [];
  await page.getByRole("listbox", { name: "Items" }).focus();
  // While a take is being answered, another press does nothing.
  const ready = page.getByRole("button", { name: /^Take\b/, disabled: false });
  for (let take = 0; take < takes; take++) {
    await ready.waitFor();
    const [last] = await Promise.all([crowd.receives(VIEWERS), page.keyboard.press("Space")]);
    const pressed = await page.evaluate(() => performance.timeOrigin + Number(document.body.dataset["pressed"]));
    measured.push(performance.timeOrigin + last - pressed);
    await sleep(300);
  }
  return measured;
}

/** How smoothly a long log scrolls under a busy chat: milliseconds between frames. */
async function scrollLog(page: Page): Promise<{ median: number; longest: number; frames: number; seconds: number }> {
  await page.reload();
  await page.getByLabel("Rundown to run").selectOption({ value: long });
  await page.getByRole("list", { name: "As run" }).getByRole("listitem").first().waitFor();
  const writers: ChatClient[] = [];
  for (let number = 0; number < WRITERS; number++) writers.push(await ChatClient.signUp(server, `bench-${number}`));
  for (const writer of writers) await writer.connect(server);
  let turn = 0;
  const chat = setInterval(() => {
    const writer = writers[turn++ % WRITERS];
    void writer?.send(crypto.randomUUID(), `What a goal, number ${turn}!`);
  }, 1000 / MESSAGES_PER_SECOND);
  await sleep(2_000);
  const gaps = await page.evaluate(async (duration) => {
    const log = document.querySelector('[aria-label="Takes"]');
    const found: number[] = [];
    const start = performance.now();
    for (let last = start; last - start < duration;) {
      const now = await new Promise<number>((frame) => requestAnimationFrame(frame));
      found.push(now - last);
      last = now;
      log?.scrollBy(0, 40);
    }
    return found.slice(1);
  }, seconds * 1000);
  clearInterval(chat);
  for (const writer of writers) writer.close();
  const sorted = gaps.toSorted((one, other) => one - other);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, longest: sorted.at(-1) ?? 0, frames: gaps.length, seconds };
}

/** A rundown whose log has many rows. */
async function longLog(): Promise<string> {
  const rundown = await newRundown("Long log", [NOTE]);
  const { items } = Rundown.parse(await (await fetch(`${server.url}/rundown/v1/${rundown}`, { headers: STAFF })).json());
  for (let row = 0; row < rows; row++) await deployment.post(`/rundown/v1/${rundown}/take`, { itemId: items[0]._id }, STAFF);
  return rundown;
}

async function newRundown(name: string, items: object[]): Promise<string> {
  const body = { channelId: CHANNEL, name, items };
  return Rundown.parse(await deployment.post("/rundown/v1", body, STAFF))._id;
}
