import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { url } from "./test-server.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

/** Opens a page whose scripts arrive only once `release` is called. */
async function openEarly(path: string): Promise<{ page: Page; release: () => void }> {
  const page = await browser.newPage();
  const released = Promise.withResolvers<void>();
  await page.route("**/_astro/*.js", async (route) => {
    await released.promise;
    await route.continue();
  });
  await page.goto(url + path, { waitUntil: "commit" });
  return { page, release: released.resolve };
}

describe("before a page's scripts run", () => {
  test("the form of the developer key puts no key into the address", async () => {
    const { page } = await openEarly("/api/key");
    const field = page.getByLabel("Developer key");
    await field.fill("tifo_dev_secret");
    await page.getByRole("button", { name: "Fill the samples" }).click();
    expect(page.url()).toBe(`${url}/api/key`);
    expect(await field.inputValue()).toBe("tifo_dev_secret");
    await page.close();
  });

  test("the controls of a template take no input that would be lost", async () => {
    const { page, release } = await openEarly("/overlays/gallery/goal");
    const field = page.getByRole("textbox", { name: "playerName" });
    expect(await field.isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Replay" }).isDisabled()).toBe(true);
    release();
    await field.fill("Priya Raman");
    await page.locator(".gallery-stage").getByText("Priya Raman").waitFor();
    await page.close();
  });

  test("the cost calculator keeps a number, and computes with it later", async () => {
    const { page, release } = await openEarly("/guides/cost");
    const total = page.locator("[data-month]");
    const before = await total.textContent();
    await page
      .getByLabel(/viewers/i)
      .first()
      .fill("123456");
    expect(await total.textContent()).toBe(before);
    release();
    await expect.poll(() => total.textContent()).not.toBe(before);
    await page.close();
  });

  test("a search that was typed is answered once the search has loaded", async () => {
    const { page, release } = await openEarly("/guides/cost");
    const box = page.locator("tifo-search input");
    await box.fill("webhook signature");
    release();
    await page.locator("tifo-search [role=option]").first().waitFor();
    await page.close();
  });
});
