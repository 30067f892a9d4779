import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { collectErrors } from "./site.ts";
import { url } from "./test-server.ts";

let browser: Browser;
let context: BrowserContext;
let page: Page;
let errors: string[];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });
  page = await context.newPage();
  errors = collectErrors(page, url);
});

afterEach(async () => {
  await context.close();
  expect(errors).toEqual([]);
});

async function createSandbox(): Promise<void> {
  await page.goto(`${url}/sandbox`);
  await page.getByRole("button", { name: "Create a sandbox" }).click();
  await page.getByText("Your sandbox is ready.").waitFor();
}

test("the page of the sandbox creates one, lists what happens in it, and throws it away", async () => {
  await createSandbox();
  await page.getByRole("list", { name: "Events" }).getByText("site.created").waitFor();
  await page.getByRole("list", { name: "Requests from these pages" }).getByText("POST /site/v1/sandbox → 201").waitFor();
  expect(await page.locator("[data-value=developerKey]").textContent()).toMatch(/^tifo_dev_/);
  await page.getByRole("button", { name: "Throw it away" }).click();
  await page.getByText("The sandbox is closed, and is deleted within the hour.").waitFor();
  expect(await page.evaluate(() => localStorage.getItem("tifo.sandbox"))).toBe(null);
});

test("an operation's page lists the sandbox's events and its own requests beside the samples", async () => {
  await createSandbox();
  await page.goto(`${url}/docs/api-reference/createPoll`);
  const events = page.getByRole("list", { name: "Events" });
  await events.getByText("site.created").waitFor();
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("list", { name: "Requests from these pages" }).getByText("POST /poll/v3 → 201").waitFor();
  await events.locator("li").first().getByText("poll.created").waitFor();
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  }
});

test("other pages with samples have the lists in a corner, which read nothing while they are closed", async () => {
  await createSandbox();
  // So that the page before reads nothing meanwhile.
  await page.goto("about:blank");
  const reads: string[] = [];
  page.on("request", (request) => request.url().includes("/webhooks/v1/events") && reads.push(request.url()));
  await page.goto(`${url}/guides/integration`);
  await page.getByText("Your sandbox, live").waitFor();
  expect(reads).toEqual([]);
  expect(await axeViolations(page)).toEqual([]);
  await page.getByText("Your sandbox, live").click();
  await page.getByRole("list", { name: "Events" }).getByText("site.created").waitFor();
  expect(await axeViolations(page)).toEqual([]);
});

test("pages show no lists to a reader without a sandbox, nor on a page without samples", async () => {
  await page.goto(`${url}/guides/integration`);
  await page.getByRole("button", { name: "Yes", exact: true }).waitFor();
  expect(await page.locator("tifo-activity").count()).toBe(0);
  await createSandbox();
  await page.goto(`${url}/guides/cost`);
  await page.getByRole("button", { name: "Yes", exact: true }).waitFor();
  expect(await page.locator("tifo-activity").count()).toBe(0);
});
