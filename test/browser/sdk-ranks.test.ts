import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { url } from "./test-server.ts";

const VIEWER = "5eed0000000000000000a003";
const deployment = new Deployment(url);

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let channelId: string;
let boardId: string;
let token: string;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveHostPage(deployment.url)]);
  token = await deployment.signIn();
  const asAdmin = { Authorization: `Bearer ${await deployment.signIn("admin")}` };
  boardId = await deployment.create("/leaderboard/v1/", { name: "Derby day", period: "all" });
  const renderer = { panel_type: "leaderboard_achievement", panel_name: "Leaderboard", leaderboard_id: boardId };
  const panel = await deployment.create("/panel/v3/", { siteId: SITE, renderer }, asAdmin);
  const page = { siteId: SITE, type: "channel", slug: `ranks-${Date.now().toString(36)}` };
  channelId = await deployment.create("/page/v2/", { ...page, data: { name: "Ranks", sidebar: { panels: [panel] } } }, asAdmin);
  // The demo's supporters, more than the top shows.
  const supporters = Array.from({ length: 6 }, (_, index) => ({ accountId: `5eed0000000000000000a02${index}`, points: 100 - index * 10 }));
  const staff = ["001", "002", "004", "005"].map((number, index) => ({ accountId: `5eed0000000000000000a${number}`, points: 40 - index }));
  await award([...supporters, ...staff, { accountId: VIEWER, points: 5 }]);
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

const award = (awards: object[]) => deployment.post(`/leaderboard/v1/${boardId}/awards`, { awards });

async function open(as?: string, viewport?: { width: number; height: number }, mode: "light" | "dark" = "light"): Promise<Page> {
  const options = { channelId, mode, ...(as !== undefined && { token: as }) };
  const { page } = await openHostPage(browser, host.url, options, viewport);
  await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  await page.getByRole("row").first().waitFor();
  return page;
}

test("viewers see the top, their own place with its neighbours, and changes live", async () => {
  const [viewer, guest] = [await open(token), await open()];
  await viewer.getByText("You are number 11 of 11").waitFor();
  const own = viewer.getByRole("table", { name: "You and your neighbours" });
  expect(await own.getByRole("row").allInnerTexts()).toHaveLength(4);
  await own.getByRole("row", { name: /Vera Viewer/ }).waitFor();
  await guest.getByText("Sign in to collect points.").waitFor();
  await award([{ accountId: VIEWER, points: 200 }]);
  for (const page of [viewer, guest]) {
    const first = page.getByRole("table", { name: "Top of the leaderboard" }).getByRole("row").nth(1);
    await expect.poll(() => first.innerText()).toMatch(/Vera Viewer[^]*205/);
  }
  await viewer.getByText("You are number 1 of 11").waitFor();
  await own.waitFor({ state: "detached" });
});

test("the first three stand on a podium, the winner in the middle and highest, and only once for screen readers", async () => {
  const page = await open(token);
  const steps = page.locator(".tifo-podium li");
  const places = await steps.evaluateAll((items) =>
    items.map((item) => {
      const box = item.querySelector(".tifo-podium-step")?.getBoundingClientRect();
      return { rank: item.getAttribute("data-rank"), left: box?.left ?? 0, height: box?.height ?? 0, bottom: Math.round(box?.bottom ?? 0) };
    }),
  );
  const [first, second, third] = places;
  expect(places.map(({ rank }) => rank)).toEqual(["1", "2", "3"]);
  expect([...places].sort((a, b) => a.left - b.left)).toEqual([second, first, third]);
  expect([...places].sort((a, b) => b.height - a.height)).toEqual([first, second, third]);
  expect(new Set(places.map(({ bottom }) => bottom)).size).toBe(1);
  expect(await page.getByRole("table", { name: "Top of the leaderboard" }).getByRole("row").count()).toBe(11);
  expect(await page.locator(".tifo-ranks").getByRole("list").count()).toBe(0);
});

test("a viewer can hide its name from others", async () => {
  const [viewer, guest] = [await open(token), await open()];
  await viewer.getByLabel("Hide my name from others").check();
  await guest.getByRole("row", { name: /Name not shown/ }).waitFor();
  await viewer.getByLabel("Hide my name from others").uncheck();
  await guest.getByRole("row", { name: /Vera Viewer/ }).waitFor();
});

test("the call to action for player stats opens the viewer's own rank if the app has no statistics", async () => {
  const page = await open(token);
  await page.evaluate(() => window.Tifo.getTifoEventViewModel()?.closePanel());
  await page.getByText(/You are number/).waitFor({ state: "detached" });
  const contents = [{ kind: "html", html: "<b>Moreno scores</b>", position: "topCenter" }];
  await deployment.broadcast(contents, { cta: { type: "show_player_stats", data: { playerId: "moreno" } } }, channelId);
  await page.getByRole("button", { name: "Player stats" }).click();
  await page.getByText(/You are number/).waitFor();
});

test.each([
  ["small phone", "light", { width: 320, height: 640 }],
  ["desktop", "dark", { width: 1280, height: 800 }],
] as const)("on a %s in %s mode there is no accessibility violation, and the panel fits its width", async (_, mode, viewport) => {
  const page = await open(token, viewport, mode);
  await page.getByText(/You are number/).waitFor();
  expect(await axeViolations(page, { within: ".tifo-panel" })).toEqual([]);
  const overflow = await page.locator(".tifo-panel-content").evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
});
