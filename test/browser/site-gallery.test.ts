import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { collectErrors } from "./site.ts";
import { url } from "./test-server.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

test("the gallery leads to a template, whose controls change the picture and the calls", async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const errors = collectErrors(page, url);
  await page.goto(`${url}/overlays/gallery`);
  await page.getByRole("link", { name: "Goal: variables and calls" }).click();
  await page.waitForURL("**/overlays/gallery/goal");

  const stage = page.locator(".gallery-stage");
  await stage.getByText("Ada Moreno").waitFor();
  await page.getByRole("textbox", { name: "playerName" }).fill("Priya Raman");
  await stage.getByText("Priya Raman").waitFor();
  const call = page.locator(".gallery-piece pre");
  expect(await call.textContent()).toContain('"playerName": "Priya Raman"');
  await page.getByRole("button", { name: "SDK" }).click();
  expect(await call.textContent()).toContain('template: "goal"');

  await page.getByRole("button", { name: "Arabic" }).click();
  await stage.getByText("هدى الشامي").waitFor();
  expect(await stage.locator(".tk").evaluate((piece) => getComputedStyle(piece).direction)).toBe("rtl");
  await page.getByRole("button", { name: "320 px" }).click();
  expect((await stage.boundingBox())?.width).toBe(320);

  await page.getByRole("link", { name: /Next/ }).click();
  await page.waitForURL("**/overlays/gallery/card");
  expect(errors).toEqual([]);
  await page.close();
});
