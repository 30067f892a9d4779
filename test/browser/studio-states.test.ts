import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { createFullSite, type FullSite, loadedScreen, SCREENS } from "./studio-screens.ts";
import { url } from "./test-server.ts";

// What every screen shows where there is nothing yet, and where it can't be read.

const SLUG = "studio-states";
/** What reads the site's name and an account, without which there is no screen. */
const FRAME = /^\/(auth\/v2|site\/v1$|account\/v3\/[0-9a-f]{24}$)/;
/** What these show comes into being by itself. */
const FILLED_BY_ITSELF = [
  "/money",
  "/schedule",
  "/insights?range=month",
  "/developers/events",
  "/developers/requests",
  "/developers/limits",
];

const READS_NOTHING = /\/new$|^\/people\/(transfer|[0-9a-f]{24})$/;
/** Lists and forms of the same two components as those of channels. */
const LIKE_CHANNELS = /^\/(content\/(landing-pages|panels|videos|playlists|calendar)|subscriptions|overlays$|polls$|quests$|people$)/;

let browser: Browser;
let full: FullSite;
let empty: { site: StudioSite; admin: Member };

beforeAll(async () => {
  browser = await launchBrowser();
  full = await createFullSite(url, SLUG);
  const site = await StudioSite.create(url, `${SLUG}-empty`);
  empty = { site, admin: await site.admin(`${SLUG}-empty`) };
});

afterAll(() => browser.close());

test("every list that is empty says so, and how to begin", async () => {
  const { page, errors } = await empty.site.open(browser, "", empty.admin);
  const lists = SCREENS.filter((screen) => screen !== "" && !/\/(new|transfer)$/.test(screen) && !FILLED_BY_ITSELF.includes(screen));
  const without: string[] = [];
  for (const screen of lists) {
    await page.goto(`${url}/studio${screen}`);
    await loadedScreen(page);
    // The site's admin, and the key with which the test made the site.
    if (screen === "/people" || screen === "/developers/keys") continue;
    if ((await page.getByRole("main").locator(".state").getByRole("link").or(page.locator(".state").getByRole("button")).count()) === 0)
      without.push(screen);
  }
  expect(without).toEqual([]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("every screen that can't be read says so, and is there after another try", async () => {
  const { page, errors } = await full.site.open(browser, "", full.admin);
  let isDown = true;
  await page.route(
    ({ origin, pathname }) => origin === url && /^\/[a-z-]+\/v\d/.test(pathname) && !FRAME.test(pathname),
    (route) => (isDown ? route.fulfill({ status: 500, json: { code: "internal_error", message: "Down for a moment" } }) : route.fallback()),
  );
  for (const screen of full.screens.filter((path) => !READS_NOTHING.test(path) && !LIKE_CHANNELS.test(path))) {
    isDown = true;
    await page.goto(`${url}/studio${screen}`);
    await page.getByRole("alert").first().waitFor();
    isDown = false;
    await expect.poll(() => tryAgain(page), { message: screen }).toBe(0);
  }
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a rundown that can't be read leaves the channel's name and the choice of another rundown", async () => {
  const { page, errors } = await full.site.open(browser, "", full.admin);
  const down = { status: 500, json: { code: "internal_error", message: "Down for a moment" } };
  await page.route(/\/rundown\/v1\/[0-9a-f]{24}$/, (route) => route.fulfill(down));
  await page.goto(`${url}/studio${full.screens.find((screen) => screen.startsWith("/run/")) ?? ""}`);
  await page.getByRole("alert").filter({ hasText: "Down for a moment" }).waitFor();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByLabel("Rundown to run").waitFor();
  await page.unroute(/\/rundown\/v1/);
  expect(errors.filter((error) => !error.includes("500"))).toEqual([]);
  await page.context().close();
});

/** Presses "Try again" if it is there; returns how many errors are left on the loaded screen, some of which are of what is read after that. */
async function tryAgain(page: Page): Promise<number> {
  // In one step: the button may go by itself, and a click that looks for it again would wait for it.
  await page.evaluate(() => {
    const buttons = [...document.querySelectorAll("button")];
    buttons.find(({ textContent }) => textContent === "Try again")?.click();
  });
  const errors = await page.getByRole("alert").count();
  if (errors > 0) return errors;
  // Only without an error: in its place, there may be no heading.
  await loadedScreen(page);
  return page.getByRole("alert").count();
}
