import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { layoutFaults } from "./studio-layout.ts";
import { createFullSite, type FullSite, loadedScreen } from "./studio-screens.ts";
import { url } from "./test-server.ts";

/** A window of 1280×800 at a zoom of 200 %, and the width at which WCAG 1.4.10 wants no scrolling to the side. */
const SIZES = [
  { width: 640, height: 400 },
  { width: 320, height: 640 },
] as const;

let browser: Browser;
let full: FullSite;

beforeAll(async () => {
  browser = await launchBrowser();
  full = await createFullSite(url, "studio-zoom");
});

afterAll(() => browser.close());

test("every screen fits the window at a zoom of 200 % and at a width of 320 pixels, whatever the names are", async () => {
  const { page, errors } = await full.site.open(browser, "", full.admin);
  const faults: string[] = [];
  for (const screen of full.screens) {
    await page.goto(`${url}/studio${screen}`);
    await loadedScreen(page);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const fault of await layoutFaults(page)) faults.push(`${screen} at ${String(size.width)}: ${fault}`);
    }
  }
  expect(faults).toEqual([]);
  expect(errors).toEqual([]);
});

test("two filters share a row of a phone, below the search", async () => {
  const { page, errors } = await full.site.open(browser, "", full.admin);
  await page.setViewportSize({ width: 375, height: 800 });
  await page.goto(`${url}/studio/developers/requests`);
  await loadedScreen(page);
  const fields = page.locator(".toolbar > .field");
  const tops = await fields.evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().top));
  expect(tops).toHaveLength(3);
  expect(tops[1]).toBeGreaterThan(tops[0] ?? Infinity);
  expect(tops[2]).toBe(tops[1]);
  expect(errors).toEqual([]);
});
