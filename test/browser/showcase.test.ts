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

test("the showcase on the home page loads when its button is pressed, counts the visitor's vote, and plays to its end", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const errors = collectErrors(page, url);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  expect(requests.filter((path) => /m3u8|m4s|showcase\.[^/]*js|hls/.test(path) && !path.includes("astro_type_script"))).toEqual([]);

  await page.getByRole("button", { name: /Watch the demo match/ }).click();
  const player = page.getByRole("group", { name: "Player" });
  await player.getByText(/watching$/).waitFor();
  await player.getByRole("slider", { name: "Position" }).fill("12");
  const answer = page.locator(".tk-poll").getByRole("button", { name: /Old Dock/ });
  await answer.click();
  await page.locator('.tk-poll [aria-pressed="true"]').getByText("Old Dock").waitFor();

  await page.getByRole("textbox", { name: /message/i }).fill("Hello from the home page");
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("Hello from the home page").waitFor();

  await player.getByRole("slider", { name: "Position" }).fill("177");
  await page.locator(".tk-final-result").getByText("Ada Moreno 17′").waitFor();
  await player.getByRole("button", { name: "Play again" }).waitFor();
  expect(requests.filter((path) => /^\/(page|poll|realtime|chat)\//.test(path))).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});
