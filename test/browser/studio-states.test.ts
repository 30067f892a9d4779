import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { loadedScreen, SCREENS } from "./studio-screens.ts";
import { url } from "./test-server.ts";

// What every list shows where there is nothing yet.

const SLUG = "studio-states";
/** What these show comes into being by itself. */
const FILLED_BY_ITSELF = [
  "/money",
  "/schedule",
  "/insights?range=month",
  "/developers/events",
  "/developers/requests",
  "/developers/limits",
];

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
});

afterAll(() => browser.close());

test("every list that is empty says so, and how to begin", async () => {
  const { page, errors } = await site.open(browser, "", admin);
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
