import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { url } from "./test-server.ts";

const deployment = new Deployment(url);

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let channelId: string;
let tokens: { viewer: string; admin: string };

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveHostPage(deployment.url)]);
  tokens = { viewer: await deployment.signIn(), admin: await deployment.signIn("admin") };
  const asAdmin = { Authorization: `Bearer ${tokens.admin}` };
  const renderer = { panel_type: "question_answer", panel_name: "Questions", prompt: "Ask the coach" };
  const panel = await deployment.create("/panel/v3/", { siteId: SITE, renderer }, asAdmin);
  const channel = {
    siteId: SITE,
    type: "channel",
    slug: `questions-${Date.now().toString(36)}`,
    data: { name: "Questions stage", sidebar: { panels: [panel] } },
  };
  channelId = await deployment.create("/page/v2/", channel, asAdmin);
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

async function open(token?: string, viewport?: { width: number; height: number }, mode: "light" | "dark" = "light") {
  const options = { channelId, mode, ...(token !== undefined && { token }) };
  const opened = await openHostPage(browser, host.url, options, viewport);
  await opened.page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  return opened;
}

const card = (page: Page, text: string) => page.locator(".tifo-question", { hasText: text });

test("a viewer's question is approved, upvoted, shown on screen, answered and withdrawn live", async () => {
  const [viewer, moderator, reader] = [await open(tokens.viewer), await open(tokens.admin), await open()];
  await viewer.page.getByLabel("Your question").fill("Is the <b>keeper</b> fit?");
  await viewer.page.keyboard.press("Control+Enter");
  await card(viewer.page, "Is the <b>keeper</b> fit?").getByText("Waiting for review").waitFor();
  await viewer.page.getByText("A moderator reviews it").waitFor();
  expect(await card(reader.page, "keeper").count()).toBe(0);

  await moderator.page.getByRole("button", { name: /To review/ }).click();
  await card(moderator.page, "keeper").getByRole("button", { name: "Approve" }).click();
  await card(reader.page, "keeper").waitFor();
  await moderator.page.getByRole("button", { name: /^Questions/ }).click();
  await card(moderator.page, "keeper")
    .getByRole("button", { name: /Upvote/ })
    .click();
  await card(reader.page, "keeper").getByRole("button", { name: "Upvote, 2 votes" }).waitFor();

  await card(moderator.page, "keeper").getByRole("button", { name: "On screen" }).click();
  await reader.page.locator(".tk-question").getByText("Is the <b>keeper</b> fit?").waitFor();

  await card(moderator.page, "keeper").getByRole("button", { name: "Answer", exact: true }).click();
  await moderator.page.getByLabel(/^Answer;/).fill("Fit as ever.");
  await moderator.page.getByRole("button", { name: "Publish answer" }).click();
  await reader.page.getByRole("button", { name: /^Answered 1/ }).click();
  await card(reader.page, "keeper").getByText("Fit as ever.").waitFor();

  await moderator.page.getByRole("button", { name: /^Answered/ }).click();
  await card(moderator.page, "keeper").getByRole("button", { name: "Dismiss" }).click();
  await card(reader.page, "keeper").waitFor({ state: "detached" });
  await reader.page.locator(".tifo-overlay").waitFor({ state: "detached" });
  for (const { problems } of [viewer, moderator, reader]) expect(problems).toEqual([]);
});

test.each([
  ["phone", "light", { width: 375, height: 800 }],
  ["desktop", "dark", { width: 1280, height: 800 }],
] as const)("on a %s in %s mode has no accessibility violation and fits its width", async (_, mode, viewport) => {
  const { page } = await open(tokens.admin, viewport, mode);
  await page.getByLabel("Your question").fill("A".repeat(450));
  await page.getByText("50 characters left").waitFor();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByRole("button", { name: /To review/ }).click();
  const waiting = page.locator(".tifo-question", { hasText: "AAAA" }).first();
  await waiting.getByRole("button", { name: "Answer", exact: true }).click();
  expect(await axeViolations(page, { within: ".tifo-panel" })).toEqual([]);
  const overflow = await page.locator(".tifo-panel-content").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await waiting.getByRole("button", { name: "Dismiss" }).click();
  await waiting.waitFor({ state: "detached" });
});

test("viewers who are signed out can read, and are asked to sign in", async () => {
  const { page } = await open();
  await page.getByRole("button", { name: "Sign in" }).click();
  expect(await page.evaluate(() => window.recorded.panelEvents.map(({ type }) => type))).toContain("loginRequested");
});
